import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CONFIGURATION_PAGE, insertVariableTable } from './config-docs.ts';

it('docs/configuration.md describes every variable as the program does', () => {
  const page = readFileSync(CONFIGURATION_PAGE, 'utf8');
  // `node run.mjs config-docs` writes the page.
  expect(page).toBe(insertVariableTable(page));
});
