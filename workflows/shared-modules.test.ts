import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('modules have no variable that changes, because the runs of a process share the modules', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  expect(files).toContain('registry.ts');
  const changing = files.filter((name) =>
    /^(export )?(let|var) /m.test(readFileSync(join(import.meta.dirname, name), 'utf8')),
  );
  expect(changing).toEqual([]);
});
