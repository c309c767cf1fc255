import { sql } from 'kysely';
import { parseMessageId } from '../../rules/content/link-tokens.ts';
import { parseSmsId, type UncertainMessages } from './doubt.ts';
import type { ClientRequest, RequestKind } from './load.ts';
import type { SoakStage } from './stage.ts';

/** One row of the result table. */
export interface Line {
  kind: string;
  requests: number;
  accepted: number;
  /**
   * The number of requests without an idempotency key that got no response. The service may or may not have accepted
   * them.
   */
  unknown: number;
  served: number;
  lost: number;
  /** Messages that arrived more than once, because a failure hid from the service that the earlier copy had arrived. */
  'doubled, in doubt': number;
  /** Messages that arrived more than once for another reason, or are in the database more than once. */
  'doubled, unexplained': number;
}

export interface SoakVerdict {
  lines: Line[];
  /** The problems, one line each. */
  problems: string[];
}

/** The database row of an email, SMS or event. `name` is the name of its request. */
interface StoredRow {
  id: string;
  name: string;
  status: string;
}

const MAX_PROBLEMS_SHOWN = 5;

/** Compares the accepted requests with the rows in the database and with the messages that arrived. */
export async function checkResults(
  stage: SoakStage,
  requests: ClientRequest[],
  campaigns: string[],
  doubt: UncertainMessages,
): Promise<SoakVerdict> {
  const problems: string[] = [];
  const checkKind = (kind: RequestKind, rows: StoredRow[], arrivals: Map<string, number>): Line => {
    const rowsByName = groupByKey(rows, ({ name }) => name);
    const items = requests.filter((item) => item.kind === kind);
    const line = createLine(kind, items);
    const found: string[] = [];
    for (const { name, state, lastFailure } of items) {
      const mine = rowsByName.get(name) ?? [];
      const copies = mine.map(({ id }) => arrivals.get(id) ?? 0);
      if (state === 'refused') found.push(`${kind} ${name} was refused: ${lastFailure}`);
      if (mine.length > 1) {
        line['doubled, unexplained'] += 1;
        found.push(`${kind} ${name} has ${mine.length} records`);
      }
      if (state === 'accepted' && copies[0]) line.served += 1;
      if (state === 'accepted' && !copies[0]) {
        line.lost += 1;
        found.push(`${kind} ${name} (${mine[0]?.id ?? 'no record'}, ${mine[0]?.status ?? '-'}) did not arrive`);
      }
      for (const [n, { id }] of mine.entries())
        countCopies({ line, found, what: `${kind} ${name} (${id})`, id, copies: copies[n] ?? 0 });
    }
    problems.push(...limitProblems(found));
    return line;
  };
  const countCopies = ({ line, found, what, copies, id }: CopiesOf) => {
    if (copies < 2) return;
    if (copies - 1 <= doubt.countAllowedRepeats(id)) line['doubled, in doubt'] += 1;
    else {
      line['doubled, unexplained'] += 1;
      found.push(`${what} came ${copies} times, and was left in doubt ${doubt.countAllowedRepeats(id)} times`);
    }
  };

  const emails = await readEmailRows(stage);
  const arrived = countByKey(stage.sink.messages.map(({ messageId }) => parseMessageId(messageId) ?? messageId));
  const transactional = emails.filter(({ source }) => source === 'TRANSACTIONAL');
  const lines = (['email with key', 'email without key', 'rate-limited email'] as const).map((kind) =>
    checkKind(kind, transactional, arrived),
  );
  const sms = await sql<StoredRow>`SELECT id, body AS name, status FROM sms_messages`.execute(stage.db);
  lines.push(
    checkKind('SMS', sms.rows, countByKey(stage.twilio.requests.map(({ params }) => parseSmsId(params) ?? '?'))),
  );
  lines.push(checkKind('event', ...(await readEventsAndArrivals(stage))));

  const byExecution = emails.filter(({ source }) => source === 'WORKFLOW');
  const accepted = new Set(requests.filter((a) => a.kind === 'event' && a.state === 'accepted').map((a) => a.name));
  lines.push(await checkExecutions(stage, accepted, { stepEmails: byExecution, arrived, countCopies }, problems));
  for (const id of campaigns) lines.push(await checkCampaign(stage, id, { arrived, countCopies }, problems));
  problems.push(...limitProblems(findWebhookProblems(stage)));
  const unknown = [...arrived.keys()].filter((id) => !emails.some((email) => email.id === id));
  if (unknown.length > 0) problems.push(`${unknown.length} messages at the sink have no record: ${unknown[0]}`);
  return { lines, problems };
}

/** How many copies of one message arrived, and the line and the list of problems that record this. */
interface CopiesOf {
  line: Line;
  found: string[];
  what: string;
  copies: number;
  id: string;
}

interface Copies {
  arrived: Map<string, number>;
  countCopies: (of: CopiesOf) => void;
}

/**
 * Returns the recorded events, and the ids of the events that have arrived. An event has arrived if the registered
 * webhook endpoint received it at least once.
 */
async function readEventsAndArrivals(stage: SoakStage): Promise<[StoredRow[], Map<string, number>]> {
  const { rows } = await sql<StoredRow>`
    SELECT e.id, c.email AS name, 'recorded' AS status FROM events e JOIN contacts c ON c.id = e.contact_id
    WHERE e.name = 'soak-start'`.execute(stage.db);
  const called = new Set(listRegistryCalls(stage).map(({ body }) => parseContactAddress(body)));
  return [rows, new Map(rows.filter(({ name }) => called.has(name)).map(({ id }) => [id, 1]))];
}

/**
 * Checks that every accepted event caused one execution. The execution must be COMPLETED or EXITED, and have sent one
 * email and updated the contact. All requests of its WEBHOOK step must have the same idempotency key.
 */
async function checkExecutions(
  stage: SoakStage,
  accepted: Set<string>,
  { stepEmails, arrived, countCopies }: Copies & { stepEmails: StoredRow[] },
  problems: string[],
): Promise<Line> {
  const { rows } = await sql<{ id: string; email: string; status: string; error: string | null; marked: boolean }>`
    SELECT x.id, c.email, x.status, x.error, c.data ? 'seen' AS marked
    FROM executions x JOIN contacts c ON c.id = x.contact_id`.execute(stage.db);
  const byContact = groupByKey(rows, ({ email }) => email);
  const emailsByContact = groupByKey(stepEmails, ({ name }) => name);
  const calls = groupByKey(
    stage.receiver.received.filter(({ path }) => path === '/step'),
    ({ headers }) => String(headers['x-execution-id']),
  );
  const line = { ...createLine('execution', []), requests: accepted.size, accepted: accepted.size };
  const found: string[] = [];
  for (const email of accepted) {
    const mine = byContact.get(email) ?? [];
    const execution = mine[0];
    const keys = new Set((calls.get(execution?.id ?? '') ?? []).map(({ headers }) => headers['idempotency-key']));
    const sent = emailsByContact.get(email) ?? [];
    const copies = arrived.get(sent[0]?.id ?? '') ?? 0;
    const ended = execution?.status === 'COMPLETED' || execution?.status === 'EXITED';
    if (ended && execution.marked && keys.size > 0 && copies > 0) line.served += 1;
    else {
      line.lost += 1;
      const state = `${execution?.status ?? 'none'} ${execution?.error ?? ''}, marked ${execution?.marked}`;
      found.push(`execution of ${email}: ${state}, ${keys.size} webhook keys, ${copies} emails`);
    }
    if (mine.length > 1 || sent.length > 1 || keys.size > 1) {
      line['doubled, unexplained'] += 1;
      found.push(`${email} has ${mine.length} executions, ${sent.length} emails, ${keys.size} webhook keys`);
    }
    for (const { id } of sent)
      countCopies({
        line,
        found,
        what: `email of the execution of ${email} (${id})`,
        id,
        copies: arrived.get(id) ?? 0,
      });
  }
  problems.push(...limitProblems(found));
  return line;
}

async function checkCampaign(
  stage: SoakStage,
  id: string,
  { arrived, countCopies }: Copies,
  problems: string[],
): Promise<Line> {
  const { rows } = await sql<{ name: string; status: string }>`
    SELECT name, status FROM campaigns WHERE id = ${id}`.execute(stage.db);
  const emails = await sql<{ id: string; status: string; email: string }>`
    SELECT e.id, e.status, c.email FROM emails e JOIN contacts c ON c.id = e.contact_id WHERE e.campaign_id = ${id}`.execute(
    stage.db,
  );
  const total = await sql<{ n: number }>`
    SELECT count(*)::int AS n FROM contacts WHERE project_id = (SELECT project_id FROM campaigns WHERE id = ${id})`.execute(
    stage.db,
  );
  const people = total.rows[0]?.n ?? 0;
  const line = { ...createLine(rows[0]?.name ?? id, []), requests: people, accepted: people };
  const found: string[] = [];
  if (rows[0]?.status !== 'SENT') found.push(`campaign ${rows[0]?.name} is ${rows[0]?.status}`);
  for (const row of emails.rows) {
    const copies = arrived.get(row.id) ?? 0;
    if (copies > 0 && row.status === 'SENT') line.served += 1;
    else found.push(`campaign email ${row.id} to ${row.email} is ${row.status} and came ${copies} times`);
    countCopies({ line, found, what: `campaign email ${row.id} to ${row.email}`, id: row.id, copies });
  }
  const twice = emails.rows.length - new Set(emails.rows.map(({ email }) => email)).size;
  line['doubled, unexplained'] += twice;
  line.lost = people - line.served;
  if (twice > 0) found.push(`${twice} recipients have two rows`);
  problems.push(...limitProblems(found));
  return line;
}

/**
 * Returns a line for each contact with an event that was delivered under several values of `webhook-id`. Each contact
 * has one event, and all deliveries of an event must have the same `webhook-id`.
 */
function findWebhookProblems(stage: SoakStage): string[] {
  return [...groupByKey(listRegistryCalls(stage), ({ body }) => parseContactAddress(body))].flatMap(([contact, of]) => {
    const ids = new Set(of.map(({ headers }) => headers['webhook-id']));
    return ids.size === 1 ? [] : [`the event of ${contact} was delivered under ${ids.size} webhook ids`];
  });
}

function listRegistryCalls({ receiver }: SoakStage) {
  return receiver.received.filter(({ path }) => path === '/registry');
}

async function readEmailRows({ db }: SoakStage): Promise<(StoredRow & { source: string })[]> {
  const { rows } = await sql<StoredRow & { source: string }>`
    SELECT e.id, coalesce(e.to_email, c.email) AS name, e.status, e.source_type AS source
    FROM emails e LEFT JOIN contacts c ON c.id = e.contact_id`.execute(db);
  return rows;
}

function parseContactAddress(body: string): string {
  return JSON.parse(body).data.contact.email;
}

function createLine(kind: string, items: ClientRequest[]): Line {
  const of = (state: ClientRequest['state']) => items.filter((item) => item.state === state).length;
  return {
    kind,
    requests: items.length,
    accepted: of('accepted'),
    unknown: of('unknown'),
    served: 0,
    lost: 0,
    'doubled, in doubt': 0,
    'doubled, unexplained': 0,
  };
}

function limitProblems(found: string[]): string[] {
  const more = found.length - MAX_PROBLEMS_SHOWN;
  return more > 0 ? [...found.slice(0, MAX_PROBLEMS_SHOWN), `… and ${more} more of these`] : found;
}

function groupByKey<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

function countByKey(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
