import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';

const read = (file: string): string => readFileSync(join(packageRoot(), file), 'utf8');

it('every promise of the security page names tests that exist', () => {
  const page = read('docs/security.md');
  const rows = page.split('\n').filter((line) => line.includes('.test.ts`'));
  expect(rows.length).toBeGreaterThan(10);
  const faults = rows.flatMap((row) =>
    [...row.matchAll(/`([\w./-]+\.test\.ts)`(?:: ([^|,]+(?:,[^|`]+)*))?/g)].flatMap(([, file = '', title]) => {
      if (!existsSync(join(packageRoot(), file))) return [`${file} is not there`];
      // The title of a test with a table of cases contains `%i` or `%s` instead of numbers.
      const words = title?.trim().split(/\d+/) ?? [];
      const source = read(file);
      return words.every((part) => source.includes(part)) ? [] : [`${file} has no "${title}"`];
    }),
  );
  expect(faults).toEqual([]);
});

it('SECURITY.md links to the security page', () => {
  expect(read('SECURITY.md')).toContain('docs/security.md');
});
