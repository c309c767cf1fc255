import { expect, it } from 'vitest';
import { formatStepLabel } from './step-label.ts';

const countBytes = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;

it('contains the type and name of a step, and the event for which it waits', () => {
  expect(formatStepLabel({ type: 'DELAY', name: '三日待つ' })).toBe('DELAY “三日待つ”');
  expect(formatStepLabel({ type: 'WAIT_FOR_EVENT', name: 'Paid?' }, 'paid')).toBe('WAIT_FOR_EVENT “Paid?” (paid)');
});

it.each([
  ['three bytes', '歡'],
  ['four bytes', '🎉'],
  ['six bytes in JSON', '\u0001'],
  ['two bytes in JSON', '"'],
  ['half a character', '\ud800'],
])('cuts a name of 200 times %s to 200 bytes, between two characters', (_, character) => {
  const label = formatStepLabel({ type: 'WAIT_FOR_EVENT', name: character.repeat(200) }, '待'.repeat(255));
  expect(countBytes(label)).toBeLessThanOrEqual(200);
  expect(countBytes(label)).toBeGreaterThan(190);
  expect(label).toMatch(new RegExp(`^WAIT_FOR_EVENT “(${character})+…$`, 'u'));
});
