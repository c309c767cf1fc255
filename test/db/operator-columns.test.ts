import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const DB = join(import.meta.dirname, '..', '..', 'db');
/** These show or change what the project's own people set. */
const OWN = ['projects.ts', 'hold-guard.ts'];
const COLUMNS = 'held_at|hold_reason|monthly_email_limit|send_rate_per_second|bounce_guard|complaint_guard';

it("statements read what holds (`effective_…`), not the project's own setting, which its operator may have tightened", () => {
  const files = readdirSync(DB).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !OWN.includes(name),
  );
  const readers = files.flatMap((name) => {
    // Names of answers (`AS x`), of fields in types (`x:`) and of their use (`row.x`) are no columns.
    const text = readFileSync(join(DB, name), 'utf8').replaceAll(
      /\bAS \w+|^\s*\w+\??:.*$|\brow\.\w+|^.*\}: CampaignRow,$/gm,
      '',
    );
    return [...text.matchAll(new RegExp(`\\b(?:\\w+\\.)?(?:${COLUMNS})\\b`, 'g'))].map(
      ([column]) => `${name} ${column}`,
    );
  });
  expect(readers).toEqual([]);
});
