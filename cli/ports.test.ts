import { randomInt } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { freePort } from './ports.ts';

vi.mock('node:crypto', { spy: true });

test('a port is chosen once, though nobody listens on it yet', async () => {
  const drawn = [20_101, 20_101, 20_101, 20_102];
  vi.mocked(randomInt as (min: number, max: number) => number).mockImplementation(() => drawn.shift() ?? 20_103);
  expect(await freePort()).not.toBe(await freePort());
});
