import { expect, it } from 'vitest';
import { toFieldErrors } from '../../http/field-errors.ts';
import { TrackEvent } from './input.ts';

it.each([
  ['', 'Must not be empty'],
  [' \u3000', 'Must not be empty'],
  ['\u200b', 'An event name has at least 1 character that is not a space.'],
  ['x'.repeat(1000), 'Must have at most 255 characters'],
  ['email.sent', '"email.sent" is reserved, because the service records it itself. Choose another name.'],
])('refuses the event name %j with one error', (event, message) => {
  const input = { email: 'ada@example.com', event };
  const issues = TrackEvent.safeParse(input).error?.issues ?? [];
  expect(toFieldErrors(issues, input)).toEqual([expect.objectContaining({ field: 'event', message })]);
});

it('removes spaces from both ends of an event name, as triggers do', () => {
  expect(TrackEvent.parse({ email: 'ada@example.com', event: ' signup ' }).event).toBe('signup');
});
