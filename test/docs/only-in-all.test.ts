import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const { ONLY_IN_ALL }: { ONLY_IN_ALL: string[] } = await import(join(ROOT, 'test', 'only-in-all.mjs'));

/** Returns the files of a pattern: `{a,b}` names two, and `!(a)` excludes one. */
function listFiles(pattern: string): string[] {
  const [whole, list] = /[{(](.+)[})]/.exec(pattern) ?? [];
  if (whole === undefined || list === undefined) return [pattern];
  return list.split(',').map((name) => pattern.replace(`!${whole}`, name).replace(whole, name));
}

it('every file that test/only-in-all.mjs lists exists', () => {
  expect(ONLY_IN_ALL.flatMap(listFiles).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
