import { expect, it } from 'vitest';
import { runDemo } from '../support/demo.ts';

it('npm run demo starts a service, shows it, counts the emails that arrived, and removes everything it created', async () => {
  const { code, output, remaining } = await runDemo('demo');
  expect(code, output).toBe(0);
  expect(output).toContain('types of step that the execution visited: 7 of 7');
  expect(output).toMatch(/emails in the mailbox: ([\d,]+) of \1\n/);
  expect(output).toContain('calls of the WEBHOOK step: 1 of 1');
  for (const shown of [
    'sent while it was paused: 0 of 0',
    'retried after the contact was fixed: 1 of 1',
    'recipients that wait for their local time: 1 of 1',
  ])
    expect(output).toContain(shown);
  expect(output).toContain('ended by the purchase: 1 of 1');
  expect(output).not.toContain('WRONG');
  expect(output).not.toContain('\x1b');
  expect(remaining).toEqual([]);
});
