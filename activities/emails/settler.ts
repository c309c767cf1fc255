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
import { tellMessageEnd } from '../message-end.ts';
import { persistently } from '../persistently.ts';

/** Results that share a transaction: 100 cost a third of what 20 cost a row (docs/decisions.md). */
const BATCH_MAX = 100;
const LANES = 2;
/** Fewer wait for the transaction that runs, and share the next. */
const WORTH_A_LANE = 16;

/** A mail's result that counted. */
export type Settled = Pick<EmailResult, 'email' | 'outcome'>;

/**
 * Work in the transaction that records emails' results, such as completing their steps: for all emails of one project
 * at once. May run again.
 */
export type SettleHook<T> = (trx: Trx, settled: Settled[]) => Promise<Hooked<T>>;

export interface Hooked<T> {
  /** In the order of what was settled. */
  values: T[];
  /** Queued by the hook: their takers are woken after the commit. */
  outbox?: OutboxRow[];
}

export interface Settlement<T> {
  /** False: fenced off, another attempt has the mail. Nothing was recorded, and the hook did not run. */
  recorded: boolean;
  value?: T;
}

export interface EmailSettler {
  /**
   * Records a result together with others, with what the hook does in the same transaction; resolves after the commit.
   */
  settle<T>(result: EmailResult, hook?: SettleHook<T>): Promise<Settlement<T>>;
}

interface Item {
  result: EmailResult;
  hook: SettleHook<unknown> | undefined;
}

/** Records results as they come, many in a transaction when many come. */
export function createEmailSettler(deps: {
  db: Db;
  suppressionKey: Buffer;
  /** Named in suppression entries: the provider. */
  source: EmailProviderKind;
  outbox: OutboxWaker;
  guard: Pick<HoldGuard, 'accepted'>;
  ends: SampledLog;
}): EmailSettler {
  const { suppressionKey, source } = deps;

  /** Once it is committed: the hold guard counts what a watched mailbox provider takes. */
  function tellGuard(settled: Settled[]): void {
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
    const { counted, outbox, watched, values } = await persistently(() =>
      inTransaction(deps.db, (trx) => record(trx, items)),
    );
    deps.outbox.wake(outbox);
    if (watched) tellGuard(counted.map(({ result }) => result));
    for (const { result } of counted) tellEnd(deps.ends, result);
    const recorded = new Set(counted);
    return items.map((item) => ({ recorded: recorded.has(item), value: values.get(item) }));
  }

  const group = createGroupCommit<Item, Settlement<unknown>>({
    lanes: LANES,
    max: BATCH_MAX,
    worthALane: WORTH_A_LANE,
    queueOf: ({ result }) => result.email.projectId,
    // Two attempts of one mail, one of which is fenced off.
    apartBy: ({ result }) => [result.email.id],
    commit,
  });

  return {
    settle: <T>(result: EmailResult, hook?: SettleHook<T>) => group.add({ result, hook }) as Promise<Settlement<T>>,
  };
}

/** Logs the end of an email. A deferred or held email has not ended. */
function tellEnd(ends: SampledLog, { email, outcome }: EmailResult): void {
  if (outcome.kind === 'deferred' || outcome.kind === 'held') return;
  const { id, projectId } = email;
  tellMessageEnd(ends, {
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

/** Each hook once, for all the mails that were given with it. */
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
