import { expect, it } from 'vitest';
import { findFreePort } from './ports.ts';

it('a port is chosen only once, although no program listens on it yet', async () => {
  const drawn = [20_101, 20_101, 20_101, 20_102];
  const draw = () => drawn.shift() ?? 20_103;
  expect(await findFreePort('127.0.0.1', draw)).not.toBe(await findFreePort('127.0.0.1', draw));
});
