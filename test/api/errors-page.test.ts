import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorsPage } from '../../api/http/errors-page.ts';

describe('docs/errors.md', () => {
  it('has exactly the text of the catalogue of error codes', () => {
    expect(readFileSync('docs/errors.md', 'utf8')).toBe(errorsPage());
  });
});
