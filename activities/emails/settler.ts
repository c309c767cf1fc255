import type { Db, Trx } from '../../db/connection.ts';
import { createGroupCommit } from '../../db/group-commit.ts';
import type { OutboxWaker } from '../../db/outbox/outbox-waker.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type EmailResult, recordEmailResults } from '../../engine/attempts/email-outcomes.ts';
import { type RecordedOutcome, reasonOfRefusal } from '../../rules/emails/attempt-outcome.ts';
import type { EmailProviderKind } from '../../rules/emails/email-providers.ts';
import type { Reason } from '../../rules/emails/reasons.ts';
import { isSimulated } from '../../rules/emails/simulator.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { SampledLog } from '../../rules/sampled-log.ts';
import type { HoldGuard } from '../hold-guard.ts';
import { logMessageEnd } from '../message-end.ts';
import { retryPersistently } from '../persistently.ts';

/**
 * The number of results that share a transaction. With 100, a row costs a third of its cost with 20
 * (docs/decisions.md).
 */
const BATCH_MAX = 100;
const LANES = 2;
/**
 * A second transaction starts only for at least this many results. Fewer results wait for the running transaction and
 * share the next one.
 */
const WORTH_A_LANE = 16;

/** The result of an email that was recorded. */
export type SettledEmail = Pick<EmailResult, 'email' | 'outcome'>;

/**
 * Work in the transaction that records the results of emails, such as completing their steps. It runs once for all
 * emails of a project. Safe to run twice.
 */
export type SettleHook<T> = (trx: Trx, settled: SettledEmail[]) => Promise<SettleHookResult<T>>;

export interface SettleHookResult<T> {
  /** One value for each settled email, in their order. */
  values: T[];
  /** Outbox rows that the hook has added. The processes that take them are woken after the commit. */
  outbox?: OutboxRow[];
}

export interface Settlement<T> {
  /** False if another attempt has the email. Then nothing was recorded, and the hook did not run. */
  recorded: boolean;
  value?: T;
}

export interface EmailSettler {
  /** Records a result together with others, and runs the hook in the same transaction. Resolves after the commit. */
  settle<T>(result: EmailResult, hook?: SettleHook<T>): Promise<Settlement<T>>;
}

interface Item {
  result: EmailResult;
  hook: SettleHook<unknown> | undefined;
}

/** Records results as they arrive; many results share a transaction. */
export function createEmailSettler(deps: {
  db: Db;
  suppressionKey: Buffer;
  /** The provider, which suppression entries name. */
  source: EmailProviderKind;
  outbox: OutboxWaker;
  guard: Pick<HoldGuard, 'accepted'>;
  ends: SampledLog;
}): EmailSettler {
  const { suppressionKey, source } = deps;

  /** Reports accepted emails to the hold guard after the commit, for the counts of watched mailbox providers. */
  function reportToGuard(settled: SettledEmail[]): void {
    deps.guard.accepted(
      settled.flatMap(({ email, outcome }) => (outcome.kind === 'accepted' && !isSimulated(email) ? [email.id] : [])),
    );
  }

  async function record(trx: Trx, items: Item[]) {
    const results = items.map(({ result }) => result);
    const projectId = results[0]?.email.projectId ?? '';
    const { recorded, outbox, watched } = await recordEmailResults(trx, { projectId, results, suppressionKey, source });
    const counted = items.filter(({ result }) => recorded.has(result.email.id));
    const hooked = await runHooks(trx, counted);
    return { counted, outbox: [...outbox, ...hooked.outbox], watched, values: hooked.values };
  }

  async function commit(items: Item[]): Promise<Settlement<unknown>[]> {
    const { counted, outbox, watched, values } = await retryPersistently(() =>
      inTransaction(deps.db, (trx) => record(trx, items)),
    );
    deps.outbox.wake(outbox);
    if (watched) reportToGuard(counted.map(({ result }) => result));
    for (const { result } of counted) logEnd(deps.ends, result);
    const recorded = new Set(counted);
    return items.map((item) => ({ recorded: recorded.has(item), value: values.get(item) }));
  }

  const group = createGroupCommit<Item, Settlement<unknown>>({
    lanes: LANES,
    max: BATCH_MAX,
    worthALane: WORTH_A_LANE,
    queueOf: ({ result }) => result.email.projectId,
    // Two attempts at one email are settled separately, because only one of them counts.
    apartBy: ({ result }) => [result.email.id],
    commit,
  });

  return {
    settle: <T>(result: EmailResult, hook?: SettleHook<T>) => group.add({ result, hook }) as Promise<Settlement<T>>,
  };
}

/** Logs the end of an email. A deferred or held email has not ended. */
function logEnd(ends: SampledLog, { email, outcome }: EmailResult): void {
  if (outcome.kind === 'deferred' || outcome.kind === 'held') return;
  const { id, projectId } = email;
  logMessageEnd(ends, {
    projectId,
    kind: 'email',
    id,
    outcome: outcome.kind === 'accepted' ? 'sent' : outcome.kind,
    reason: reasonOf(outcome),
  });
}

function reasonOf(outcome: RecordedOutcome): Reason | null {
  if (outcome.kind === 'bounced') return reasonOfRefusal(outcome.refusal);
  return outcome.kind === 'failed' ? outcome.reason : null;
}

/** Runs each hook once, for all emails that were given with it. */
async function runHooks(trx: Trx, items: Item[]): Promise<{ values: Map<Item, unknown>; outbox: OutboxRow[] }> {
  const values = new Map<Item, unknown>();
  const outbox: OutboxRow[] = [];
  for (const hook of new Set(items.map((item) => item.hook))) {
    if (!hook) continue;
    const own = items.filter((item) => item.hook === hook);
    const hooked = await hook(
      trx,
      own.map(({ result }) => result),
    );
    outbox.push(...(hooked.outbox ?? []));
    for (const [index, item] of own.entries()) values.set(item, hooked.values[index]);
  }
  return { values, outbox };
}
