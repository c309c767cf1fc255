import type { Db, Trx } from '../../db/connection.ts';
import { createGroupCommit } from '../../db/group-commit.ts';
import type { OutboxWaker } from '../../db/outbox/outbox-waker.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type EmailResult, recordEmailResults } from '../../engine/attempts/email-outcomes.ts';
import { type RecordedOutcome, toRefusalReason } from '../../rules/emails/attempt-outcome.ts';
import type { EmailProviderKind } from '../../rules/emails/email-providers.ts';
import type { Reason } from '../../rules/emails/reasons.ts';
import { isSimulated } from '../../rules/emails/simulator.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { SampledLog } from '../../rules/sampled-log.ts';
import type { HoldGuard } from '../hold-guard.ts';
import { logMessageEnd } from '../message-end.ts';
import { retryPersistently } from '../persistently.ts';

/**
 * The maximum number of results that share a transaction. With 100 results, a row costs a third of what it costs with
 * 20 (docs/decisions.md).
 */
const BATCH_MAX = 100;
const LANES = 2;
/**
 * While a transaction is running, a second one starts only for at least this many results. Fewer results wait until the
 * running transaction has ended, and share the next transaction.
 */
const WORTH_A_LANE = 16;

/** An email whose result was recorded, with its outcome. */
export type SettledEmail = Pick<EmailResult, 'email' | 'outcome'>;

/**
 * A function that runs in the transaction that records the results of emails. For example, it completes the emails'
 * steps. The hook runs once for all emails in the transaction that have the same hook. These emails belong to one
 * project. The hook must be safe to run twice.
 */
export type SettleHook<T> = (trx: Trx, settled: SettledEmail[]) => Promise<SettleHookResult<T>>;

export interface SettleHookResult<T> {
  /** One value for each settled email, in the order of the emails. */
  values: T[];
  /**
   * Outbox rows that the hook has added. The processes that start the work of these rows are woken after the commit.
   */
  outbox?: OutboxRow[];
}

export interface Settlement<T> {
  /**
   * False if another attempt has claimed the email. In this case, this attempt recorded nothing, and the hook did not
   * run.
   */
  recorded: boolean;
  value?: T;
}

export interface EmailSettler {
  /**
   * Records a result together with other results, and runs the hook in the same transaction. Resolves after the commit.
   */
  settle<T>(result: EmailResult, hook?: SettleHook<T>): Promise<Settlement<T>>;
}

interface Item {
  result: EmailResult;
  hook: SettleHook<unknown> | undefined;
}

/** Creates the settler. The settler records results as they arrive, many results in one transaction. */
export function createEmailSettler(deps: {
  db: Db;
  suppressionKey: Buffer;
  /** The kind of the provider. Suppression entries store this kind as their source. */
  source: EmailProviderKind;
  outbox: OutboxWaker;
  guard: Pick<HoldGuard, 'reportAccepted'>;
  endLog: SampledLog;
}): EmailSettler {
  const { suppressionKey, source } = deps;

  /**
   * Reports accepted emails to the hold guard after the commit. The guard counts the emails of mailbox providers that
   * it watches.
   */
  function reportToGuard(settled: SettledEmail[]): void {
    deps.guard.reportAccepted(
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
    for (const { result } of counted) logEnd(deps.endLog, result);
    const recorded = new Set(counted);
    return items.map((item) => ({ recorded: recorded.has(item), value: values.get(item) }));
  }

  const group = createGroupCommit<Item, Settlement<unknown>>({
    lanes: LANES,
    max: BATCH_MAX,
    worthALane: WORTH_A_LANE,
    queueOf: ({ result }) => result.email.projectId,
    // Two attempts of the same email never share a transaction, because only one of them counts.
    apartBy: ({ result }) => [result.email.id],
    commit,
  });

  return {
    settle: <T>(result: EmailResult, hook?: SettleHook<T>) => group.add({ result, hook }) as Promise<Settlement<T>>,
  };
}

/** Logs how an email ended. A deferred or held email has not ended, so it is not logged. */
function logEnd(endLog: SampledLog, { email, outcome }: EmailResult): void {
  if (outcome.kind === 'deferred' || outcome.kind === 'held') return;
  const { id, projectId } = email;
  logMessageEnd(endLog, {
    projectId,
    kind: 'email',
    id,
    outcome: outcome.kind === 'accepted' ? 'sent' : outcome.kind,
    reason: getReason(outcome),
  });
}

function getReason(outcome: RecordedOutcome): Reason | null {
  if (outcome.kind === 'bounced') return toRefusalReason(outcome.refusal);
  return outcome.kind === 'failed' ? outcome.reason : null;
}

/** Runs each hook once, with all emails that have this hook. */
async function runHooks(trx: Trx, items: Item[]): Promise<{ values: Map<Item, unknown>; outbox: OutboxRow[] }> {
  const values = new Map<Item, unknown>();
  const outbox: OutboxRow[] = [];
  for (const hook of new Set(items.map((item) => item.hook))) {
    if (!hook) continue;
    const itemsOfHook = items.filter((item) => item.hook === hook);
    const hooked = await hook(
      trx,
      itemsOfHook.map(({ result }) => result),
    );
    outbox.push(...(hooked.outbox ?? []));
    for (const [index, item] of itemsOfHook.entries()) values.set(item, hooked.values[index]);
  }
  return { values, outbox };
}
