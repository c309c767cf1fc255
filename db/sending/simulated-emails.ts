import { sql } from 'kysely';
import { chooseSimulation, type Simulation } from '../../rules/emails/simulator.ts';
import { OUTBOX_PRIORITY } from '../../rules/outbox.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import type { Db, Trx } from '../connection.ts';
import { createGroupCommit } from '../group-commit.ts';
import { isOwnedBySql } from '../owned-by.ts';
import { inTransaction } from '../transaction.ts';

/** A message to a simulator address, as a provider would get it. */
export interface SimulatedEmail {
  id: string;
  projectId: string;
  from: string;
  to: string;
  raw: string | Buffer;
}

const LANES = 2;
/** Maximum number of messages per transaction. */
const BATCH_MAX = 100;
/**
 * Delay of an email's simulated events if its worker has not yet recorded that the email was sent. A worker records
 * this within milliseconds, unless it was killed.
 */
const UNSETTLED_SECONDS = 2;

/**
 * Returns a function that handles a message to a simulator address. In one transaction, it stores the message in the
 * development mailbox, marks the email as simulated, and schedules its simulated events. A killed process therefore
 * loses nothing. Messages that arrive at the same time share a transaction. Repeating an email does not change its
 * scheduled events.
 */
export function createSimulatorHandler(db: Db): (email: SimulatedEmail) => Promise<Simulation['answer']> {
  const group = createGroupCommit<SimulatedEmail, Simulation['answer']>({
    lanes: LANES,
    max: BATCH_MAX,
    worthALane: BATCH_MAX / 2,
    queueOf: () => 'simulated',
    apartBy: ({ id }) => [id],
    commit: (emails) => inTransaction(db, (trx) => storeSimulated(trx, emails)),
  });
  return (email) => group.add(email);
}

async function storeSimulated(trx: Trx, emails: SimulatedEmail[]): Promise<Simulation['answer'][]> {
  const sorted = [...emails].sort((a, b) => (a.id < b.id ? -1 : 1));
  const toColumn = <T>(of: (email: SimulatedEmail) => T): T[] => sorted.map(of);
  const { rows } = await sql<{ id: string; attempts: number }>`
    WITH mail AS MATERIALIZED (
      SELECT * FROM unnest(${toColumn((m) => m.id)}::uuid[], ${toColumn((m) => m.from)}::text[],
        ${toColumn((m) => m.to.toLowerCase())}::text[], ${toColumn((m) => toBuffer(m.raw))}::bytea[]) AS m (id, from_email, to_email, raw)
    ), captured AS (
      INSERT INTO captured_emails (id, from_email, to_email, raw) SELECT id, from_email, to_email, raw FROM mail
      ON CONFLICT (id) DO UPDATE SET raw = excluded.raw
    )
    UPDATE emails e SET simulated = true FROM mail WHERE e.id = mail.id RETURNING e.id, e.attempts
  `.execute(trx);
  const attempts = new Map(rows.map((row) => [row.id, row.attempts]));
  const simulations = new Map(
    sorted.map((email) => [email.id, chooseSimulation(email.to, attempts.get(email.id) ?? 1)]),
  );
  await queueSteps(
    trx,
    sorted.filter(({ id }) => attempts.has(id)),
    simulations,
  );
  return emails.map(({ id }) => simulations.get(id)?.answer ?? 'accepted');
}

async function queueSteps(trx: Trx, emails: SimulatedEmail[], simulations: Map<string, Simulation>): Promise<void> {
  const steps = emails.flatMap(({ id, projectId }) =>
    (simulations.get(id)?.steps ?? []).map((step) => ({ id: uuidv7(), projectId, refId: id, ...step })),
  );
  if (steps.length === 0) return;
  await sql`
    INSERT INTO outbox (id, project_id, kind, priority, ref_id, payload, available_at)
    SELECT s.id, s.project_id, 'email.simulated', ${OUTBOX_PRIORITY['email.simulated']}::int2, s.ref_id,
      jsonb_build_object('what', s.what), clock_timestamp() + s.after_ms * interval '1 ms'
    FROM unnest(${steps.map((s) => s.id)}::uuid[], ${steps.map((s) => s.projectId)}::uuid[], ${steps.map((s) => s.refId)}::uuid[],
      ${steps.map((s) => s.what)}::text[], ${steps.map((s) => s.afterMs)}::float8[]) AS s (id, project_id, ref_id, what, after_ms)
    WHERE NOT EXISTS (SELECT FROM outbox o WHERE o.ref_id = s.ref_id AND o.kind = 'email.simulated')
  `.execute(trx);
}

/**
 * Deletes the rows of simulated events from the outbox, in the transaction that records the events, so that each event
 * is recorded once. Returns the ids of the deleted rows. If the worker has not recorded the result of an email yet, the
 * email's rows wait.
 */
export async function takeSimulatedEvents(trx: Trx, p: { projectId: string; ids: string[] }): Promise<Set<string>> {
  await sql`
    UPDATE outbox o SET attempts = 0, available_at = now() + make_interval(secs => ${UNSETTLED_SECONDS}::float8)
    FROM emails e
    WHERE o.id = ANY(${p.ids}::uuid[]) AND ${isOwnedBySql('o.project_id', p.projectId)} AND e.id = o.ref_id
      AND e.status IN ('PENDING', 'SENDING', 'HELD')
  `.execute(trx);
  const { rows } = await sql<{ id: string }>`
    DELETE FROM outbox o
    WHERE o.id = ANY(${p.ids}::uuid[]) AND ${isOwnedBySql('o.project_id', p.projectId)}
      AND NOT EXISTS (SELECT FROM emails e WHERE e.id = o.ref_id AND e.status IN ('PENDING', 'SENDING', 'HELD'))
    RETURNING o.id
  `.execute(trx);
  return new Set(rows.map((row) => row.id));
}

function toBuffer(raw: string | Buffer): Buffer {
  return typeof raw === 'string' ? Buffer.from(raw, 'latin1') : raw;
}
