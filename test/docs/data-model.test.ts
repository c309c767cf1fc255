import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';
import { listPrunings } from '../../db/housekeeping/pruning.ts';
import { readRetentionSettings } from '../../rules/config/retention.ts';
import { VARIABLES } from '../../rules/config.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const page = readFileSync(join(packageRoot(), 'docs/data-model.md'), 'utf8');
/** The cell "Kept" of each table of the document, by the name of the table. */
const rows = [...page.matchAll(/^\| `(\w+)` \| [^|]+ \| [^|]+ \| ([^|]+) \|$/gm)].map(
  ([, table = '', kept = '']) => [table, kept] as const,
);
const kept = new Map(rows);
const RETENTION_VARIABLES = Object.keys(VARIABLES).filter((name) => name.endsWith('_RETENTION_DAYS'));

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

it('the data model lists each table of a migrated database once', async () => {
  const tables = await sql<{ name: string }>`
    SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
  `.execute(database.db);
  expect(rows.map(([table]) => table).sort()).toEqual(tables.rows.map(({ name }) => name).sort());
});

it('the data model says when rows are deleted for each table that is pruned', () => {
  const pruned = Object.keys(listPrunings(createSettingsWithEveryRetention()));
  expect(pruned.length).toBeGreaterThan(15);
  expect(pruned.filter((table) => !/\d|_DAYS`|expires|pruning/.test(kept.get(table) ?? ''))).toEqual([]);
});

it('the data model names each retention variable', () => {
  expect(RETENTION_VARIABLES.length).toBeGreaterThan(5);
  expect(RETENTION_VARIABLES.filter((name) => ![...kept.values()].some((cell) => cell.includes(name)))).toEqual([]);
});

/** Returns settings in which every retention has a value, so that each table with a retention is pruned. */
function createSettingsWithEveryRetention() {
  return readRetentionSettings({
    WEBHOOK_DELIVERY_RETENTION_DAYS: 1,
    ATTACHMENT_RETENTION_DAYS: 1,
    EXECUTION_STEP_RETENTION_DAYS: 1,
    EVENT_RETENTION_DAYS: 1,
    JOB_RETENTION_DAYS: 1,
    AUDIT_LOG_RETENTION_DAYS: 1,
    REQUEST_LOG_RETENTION_DAYS: 1,
  });
}
