import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const ROOMS = ['db', 'engine'];
const COLUMNS = [
  'held_at',
  'hold_reason',
  'monthly_email_limit',
  'send_rate_per_second',
  'bounce_guard',
  'complaint_guard',
] as const;
/** Files that may name the columns of the project's own settings, and why. */
const NAMED: Record<string, readonly (typeof COLUMNS)[number][]> = {
  // This file shows the settings that users of the project have made.
  'db/projects/projects.ts': COLUMNS,
  // This file changes the project's own hold.
  'engine/projects/project-changes.ts': ['held_at', 'hold_reason'],
  'db/sending/hold-guard.ts': ['held_at', 'hold_reason'],
  // An operator sees the hold of the project and the hold of the operator.
  'db/operator/tenants.ts': ['held_at', 'hold_reason'],
  // Here `monthly_email_limit` is the alias of the effective limit.
  'db/campaigns/audience.ts': ['monthly_email_limit'],
  'engine/campaigns/retry.ts': ['monthly_email_limit'],
};

it("statements read the effective setting (`effective_…`), not the project's setting, which an operator may have tightened", () => {
  const files = ROOMS.flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' }).map((name) => join(room, name)),
  )
    .map((name) => name.replaceAll(sep, '/'))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('db/migrations/'));
  const named = files.flatMap((name) => {
    // Names of results (`AS x`), of fields in types (`x:`) and of their use (`row.x`) are not columns.
    const text = readFileSync(join(ROOT, name), 'utf8').replaceAll(/\bAS \w+|^\s*\w+\??:.*$|\brow\.\w+/gm, '');
    const columns = COLUMNS.filter((column) => new RegExp(`\\b${column}\\b`).test(text));
    return columns.length > 0 ? [[name, columns] as const] : [];
  });
  // The check must find these uses. If it found none, it may have read no file.
  expect(Object.fromEntries(named)).toEqual(NAMED);
});
