import { expect, it } from 'vitest';
import { formatBytes } from './format-bytes.ts';

it.each([
  [0, '0 B'],
  [1_023, '1,023 B'],
  [48_300, '47.2 kB'],
  [5 * 1024 * 1024, '5 MB'],
  [734_003_200, '700 MB'],
  [1_234_567_890_123, '1.12 TB'],
])('%d bytes are %s', (bytes, shown) => expect(formatBytes(bytes)).toBe(shown));
