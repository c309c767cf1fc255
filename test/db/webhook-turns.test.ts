import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Trx } from '../../db/connection.ts';
import { inTransaction } from '../../db/transaction.ts';
import {
  endEndpointTurn,
  listDueDeliveries,
  recordAttempts,
  startEndpointTurn,
} from '../../db/webhooks/endpoint-turns.ts';
import { insertEndpoint } from '../../db/webhooks/endpoints.ts';
import { recordEvents } from '../../engine/events/record-events.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let projectId: string;
const atRestKey = randomBytes(32);

beforeAll(async () => {
  database = await createTestDatabase();
  projectId = (await buildProject(database.db, 'One')).id;
});
afterAll(() => database?.drop());

async function createEndpoint(event: string): Promise<string> {
  const { id } = await inTransaction(database.db, (trx) =>
    insertEndpoint(trx, { projectId, url: 'https://example.com', events: [event], description: null, atRestKey }),
  );
  return id;
}
const recordEvent = (trx: Trx, name: string) =>
  recordEvents(trx, {
    projectId,
    events: [{ contactId: null, name, data: {}, untrusted: false, untrustedTrigger: false, causeId: null }],
  });
const startTurn = async (id: string) => {
  const turn = await startEndpointTurn(database.db, { projectId, id, atRestKey });
  if (!turn) throw new Error('the endpoint does not exist');
  return turn;
};
const finishTurn = (turn: Awaited<ReturnType<typeof startTurn>>) =>
  inTransaction(database.db, (trx) => endEndpointTurn(trx, turn));

it('an event wakes an idle endpoint, but not an endpoint whose turn is running', async () => {
  const id = await createEndpoint('a');
  const first = await inTransaction(database.db, (trx) => recordEvent(trx, 'a'));
  expect(first.outbox).toMatchObject([{ kind: 'webhook.deliver', refId: id }]);
  const turn = await startTurn(id);
  const second = await inTransaction(database.db, (trx) => recordEvent(trx, 'a'));
  expect(second.outbox).toEqual([]);
  const due = await listDueDeliveries(database.db, { ...turn, underWay: [], limit: 10 });
  expect(due).toHaveLength(2);
});

it('a turn reads an event that is recorded while the turn ends', async () => {
  const id = await createEndpoint('b');
  const turn = await startTurn(id);
  let ended: ReturnType<typeof finishTurn> | undefined;
  await inTransaction(database.db, async (trx) => {
    const { outbox } = await recordEvent(trx, 'b');
    expect(outbox).toEqual([]);
    ended = finishTurn(turn);
    await until(async () => {
      const { rows } =
        await sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(
          database.db,
        );
      return rows.length > 0;
    }, 'the turn to wait for the event');
  });
  expect(await ended).toMatchObject({ waitMs: 0 });
});

it('a turn ends although events arrive without a pause', async () => {
  const id = await createEndpoint('steady');
  const turn = await startTurn(id);
  /** Records an event in a transaction that stays open. */
  const openTransaction = () => {
    let close = () => {};
    const closed = new Promise<void>((resolve) => {
      close = resolve;
    });
    let done: Promise<void> | undefined;
    const opened = new Promise<void>((resolve) => {
      done = inTransaction(database.db, async (trx) => {
        await recordEvent(trx, 'steady');
        resolve();
        await closed;
      });
    });
    const end = async () => {
      close();
      await done;
    };
    return { opened, end };
  };
  let last = openTransaction();
  await last.opened;
  let ended = false;
  const ending = finishTurn(turn).finally(() => {
    ended = true;
  });
  await until(async () => {
    const next = openTransaction();
    await Promise.race([next.opened, ending]);
    await last.end();
    last = next;
    return ended;
  }, 'the end of the turn');
  await last.end();
  expect(await ending).toMatchObject({ waitMs: 0 });
  expect(await listDueDeliveries(database.db, { ...turn, underWay: [], limit: 10 })).not.toEqual([]);
});

it('an event after the end of a turn wakes the endpoint', async () => {
  const id = await createEndpoint('c');
  expect(await finishTurn(await startTurn(id))).toBeNull();
  const { outbox } = await inTransaction(database.db, (trx) => recordEvent(trx, 'c'));
  expect(outbox).toHaveLength(1);
});

it('a degraded endpoint waits until its probe, but is woken for events that would wait longer', async () => {
  const id = await createEndpoint('d');
  await inTransaction(database.db, (trx) => recordEvent(trx, 'd'));
  const probeAt = new Date(Date.now() + 60_000);
  const degradeEndpoint = (p: { probeAt: Date; nextAttemptAt: Date }) =>
    inTransaction(database.db, async (trx) => {
      await sql`UPDATE webhook_endpoints SET status = 'DEGRADED', probe_at = ${p.probeAt} WHERE id = ${id}`.execute(
        trx,
      );
      await sql`UPDATE webhook_deliveries SET next_attempt_at = ${p.nextAttemptAt} WHERE endpoint_id = ${id}`.execute(
        trx,
      );
    });
  const turn = await startTurn(id);
  await degradeEndpoint({ probeAt, nextAttemptAt: new Date() });
  expect(await finishTurn(turn)).toMatchObject({ at: probeAt });
  expect((await inTransaction(database.db, (trx) => recordEvent(trx, 'd'))).outbox).toEqual([]);
  const next = await startTurn(id);
  expect(next.paused).toBe(true);
  const nextAttemptAt = new Date(probeAt.getTime() + 60_000);
  await degradeEndpoint({ probeAt, nextAttemptAt });
  expect(await finishTurn(next)).toMatchObject({ at: nextAttemptAt });
  expect((await inTransaction(database.db, (trx) => recordEvent(trx, 'd'))).outbox).toHaveLength(1);
});

it('a turn that a newer turn has replaced records nothing', async () => {
  const id = await createEndpoint('e');
  await inTransaction(database.db, (trx) => recordEvent(trx, 'e'));
  const lost = await startTurn(id);
  const turn = await startTurn(id);
  const [delivery] = await listDueDeliveries(database.db, { ...turn, underWay: [], limit: 1 });
  const attempts = [
    {
      id: delivery?.id ?? '',
      status: 'DELIVERED' as const,
      responseStatus: 200,
      responseBody: 'ok',
      latencyMs: 1,
      error: null,
      nextAttemptAt: null,
    },
  ];
  expect(await recordAttempts(database.db, { ...lost, attempts })).toBeUndefined();
  expect(await recordAttempts(database.db, { ...turn, attempts })).toBe('ACTIVE');
  expect(await finishTurn(turn)).toBeNull();
});
