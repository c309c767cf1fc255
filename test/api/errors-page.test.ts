import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderErrorsPage } from '../../api/http/errors-page.ts';

describe('docs/errors.md', () => {
  it('is generated from the catalogue of error codes and is up to date', () => {
    expect(readFileSync('docs/errors.md', 'utf8')).toBe(renderErrorsPage());
  });
});
