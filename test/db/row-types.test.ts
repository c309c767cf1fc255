import { readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { API, type Project } from 'typescript/unstable/sync';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { compareRow } from '../support/sql-rows/compare.ts';
import { Describer } from '../support/sql-rows/describe.ts';
import { findStatements, type Statement } from '../support/sql-rows/statements.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const ROOMS = ['db', 'engine'];
/** Statements with an asserted row type that cannot be described. This number may only become smaller. */
const UNKNOWN_MAX = 10;
/** A check that finds nothing may have read nothing. */
const FOUND_MIN = 380;

/**
 * A TypeScript configuration that exists only in the compiler's memory. It includes the rooms with SQL and their
 * imports.
 */
const CONFIG = join(ROOT, 'tsconfig.rooms.json');
const CONFIG_TEXT = JSON.stringify({ extends: './tsconfig.json', include: ROOMS });

let database: TestDatabase;
let describer: Describer;
let api: API;
let project: Project;
beforeAll(async () => {
  database = await createTestDatabase();
  describer = await Describer.connect(database.url);
  api = new API({
    cwd: ROOT,
    fs: {
      readFile: (name) => (name === CONFIG ? CONFIG_TEXT : undefined),
      fileExists: (name) => (name === CONFIG ? true : undefined),
    },
  });
  const [opened] = api.updateSnapshot({ openProjects: [CONFIG] }).getProjects();
  if (!opened) throw new Error(`${CONFIG} is not a project`);
  project = opened;
});
afterAll(async () => {
  api?.close();
  await describer?.close();
  await database?.drop();
});

it('statements return the columns and types that the code asserts', async () => {
  const files = ROOMS.flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' }).map((name) => join(room, name)),
  )
    .map((name) => name.replaceAll(sep, '/'))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('db/migrations/'));
  const differences: string[] = [];
  const unknown: string[] = [];
  let found = 0;
  for (const name of files)
    for (const statement of await findStatements(project, join(ROOT, name), name)) {
      found += 1;
      const { errors, described, wrong } = await checkStatement(statement);
      differences.push(...wrong);
      if (!described) unknown.push(`${statement.place}: ${errors.join('; ')}`);
    }
  expect(differences).toEqual([]);
  expect(unknown.length, unknown.join('\n')).toBeLessThanOrEqual(UNKNOWN_MAX);
  expect(found).toBeGreaterThanOrEqual(FOUND_MIN);
});

/**
 * Checks a statement with and without optional values. One form may fail, because it may need values that the samples
 * do not have.
 */
async function checkStatement(
  statement: Statement,
): Promise<{ described: boolean; wrong: Set<string>; errors: string[] }> {
  const wrong = new Set<string>();
  const errors: string[] = [];
  for (const form of ['full', 'bare'] as const) {
    try {
      const { sql } = statement.build(form).compile(database.db);
      const columns = await describer.describe(sql);
      for (const difference of compareRow(project.checker, statement.row, columns, sql))
        wrong.add(`${statement.place}: ${difference}`);
    } catch (error) {
      errors.push(error instanceof Error ? error.message : String(error));
    }
  }
  return { described: errors.length < 2, wrong, errors };
}
