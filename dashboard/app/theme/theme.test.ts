import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { theme } from './theme.ts';

it.each(['gray', 'dark'] as const)('Mantine’s scale “%s” has only colors of tokens.css', (name) => {
  const tokens = readFileSync(join(import.meta.dirname, 'tokens.css'), 'utf8');
  expect(theme.colors?.[name]?.filter((color) => !tokens.includes(`: ${color};`))).toEqual([]);
});
