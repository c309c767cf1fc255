import { sql } from 'kysely';
import { pino } from 'pino';
import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RECOVERY, type RecoveryDeps } from '../../activities/recovery/recovery.ts';
import { buildEmail } from '../build/emails.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const HOUR_MS = 3_600_000;
let database: TestDatabase;
/** The projects with an open email, in the order of their ids. */
const projectIds: string[] = [];
let emailIds: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database;
  for (const name of ['One', 'Two', 'Three']) projectIds.push((await buildProject(db, name)).id);
  projectIds.sort();
  emailIds = projectIds.map((_, n) => v7({ msecs: Date.now() - HOUR_MS - n * 1_000 }));
  for (const [n, projectId] of projectIds.entries()) {
    const created = await buildEmail(db, { projectId });
    await sql`UPDATE emails SET id = ${emailIds[n]} WHERE id = ${created}`.execute(db);
  }
  await sql`
    INSERT INTO sms_messages (id, project_id, to_phone, from_phone, country, body, encoding, segments)
    VALUES (${v7({ msecs: Date.now() - HOUR_MS })}, ${projectIds[0]}, '+15551234567', '+15005550006', 'US', 'Hi', 'GSM7', 1)
  `.execute(db);
});
afterAll(() => database?.drop());

/**
 * Runs one turn of a part, which has time for one project. All emails have a running delivery, as during an outage of
 * the provider. Returns the projects that the turn checked, and its cursor.
 */
async function runShortTurn(part: 'messages' | 'sms', cursor: string | null) {
  const checked: string[] = [];
  const deliveries = {
    listRunning: async ({ projectId }: { projectId: string }) => {
      checked.push(projectId);
      return [{ workflowId: 'delivery', runId: 'run', ids: emailIds }];
    },
    listSent: async () => [],
  };
  const deps = {
    db: database.db,
    outbox: { wake: () => {} },
    lifecycle: { deliveries },
    log: pino({ level: 'silent' }),
  } as unknown as RecoveryDeps;
  const messagesSince = new Date(Date.now() - 2 * HOUR_MS);
  const next = await RECOVERY[part](deps, { cursor, messagesSince, settledMs: 0, mayContinue: () => false });
  return { checked, next };
}

it('each turn continues with the next project, although the emails of earlier projects are still open', async () => {
  const checked: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const turn = await runShortTurn('messages', cursor);
    checked.push(...turn.checked);
    cursor = turn.next;
    if (cursor === null || checked.length > 5) break;
  }
  expect(checked).toEqual(projectIds);
});

it('lost SMS are sent while emails of many projects are deferred', async () => {
  expect(await runShortTurn('sms', null)).toEqual({ checked: [projectIds[0]], next: projectIds[0] });
  const { rows } = await sql`SELECT FROM outbox WHERE kind = 'sms.deliver'`.execute(database.db);
  expect(rows).toHaveLength(1);
});

it('a turn that ends early leaves the next deliveries without open messages to the next turn', async () => {
  const cancelled: string[] = [];
  const sent = v7();
  const pages = [{ ids: [sent] }, { ids: [sent, emailIds[0]] }, { ids: [] }, { ids: [v7()] }].map((run, n) => ({
    ...run,
    workflowId: `delivery ${n}`,
    runId: 'run',
  }));
  const deps = {
    db: database.db,
    log: pino({ level: 'silent' }),
    lifecycle: {
      runs: {
        listRunning: async ({ cursor }: { cursor: string | null }) => {
          const at = Number(cursor ?? 0);
          return { runs: [pages[at]], next: at + 1 < pages.length ? String(at + 1) : null };
        },
        cancel: async ({ workflowId }: { workflowId: string }) => void cancelled.push(workflowId),
      },
      deliveries: { readMessageIds: async (runs: unknown[]) => runs },
    },
  } as unknown as RecoveryDeps;
  const cursors: (string | null)[] = [];
  for (let cursor: string | null = null; ; ) {
    cursor = await RECOVERY.idleDeliveries(deps, {
      cursor,
      messagesSince: new Date(),
      settledMs: 0,
      mayContinue: () => false,
    });
    cursors.push(cursor);
    if (cursor === null || cursors.length > 5) break;
  }
  expect({ cursors, cancelled }).toEqual({
    cursors: ['1', '2', '3', null],
    cancelled: ['delivery 0', 'delivery 3'],
  });
});
