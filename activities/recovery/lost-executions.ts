import { sql } from 'kysely';
import { endExecutions } from '../../db/executions/end-executions.ts';
import { listOpenExecutions, type OpenExecution, restartExecutions } from '../../db/recovery/lost-executions.ts';
import { inTransaction } from '../../db/transaction.ts';
import { describeFailure } from '../../rules/failure-text.ts';
import { groupBy } from '../../rules/filters/group-by.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { ActivityDeps } from '../deps.ts';

type Deps = Pick<ActivityDeps, 'db' | 'lifecycle' | 'log'>;
type Lost = OpenExecution & { status: string | null };

/** Executions compared with Temporal's by one count. */
const PAGE = 5_000;
/** Executions a transaction: it holds their contacts' locks. */
const CHUNK = 200;
/**
 * Where Temporal has lost everything, the rest waits for the next round: what was started by then costs it a count a
 * page.
 */
const ROUND_MS = 15 * 60_000;

/**
 * What is written of an execution whose workflow was ended in Temporal; the tenant reads it, and the operator finds the
 * history by its id.
 */
const ENDS: Record<string, { status: 'CANCELLED' | 'FAILED'; reason: 'cancelled' | null; error: string }> = {
  TERMINATED: { status: 'CANCELLED', reason: 'cancelled', error: 'An operator terminated the execution in Temporal.' },
  CANCELLED: { status: 'CANCELLED', reason: 'cancelled', error: 'An operator cancelled the execution in Temporal.' },
  FAILED: { status: 'FAILED', reason: null, error: 'The execution failed in Temporal; its history there says why.' },
  TIMED_OUT: { status: 'FAILED', reason: null, error: 'The execution timed out in Temporal.' },
};

/**
 * Makes executions and Temporal agree again. One whose workflow was terminated or cancelled there is CANCELLED, since
 * whoever did so wanted it to stop; one that Temporal has forgotten goes on where it stands. May run at any time, and
 * again.
 */
export async function recoverExecutions(deps: Deps): Promise<void> {
  const until = Date.now() + ROUND_MS;
  let page: OpenExecution[] = [];
  do {
    page = await listOpenExecutions(deps.db, { after: page.at(-1)?.id, limit: PAGE });
    const lost = await findLost(deps, page);
    for (const [projectId, theirs] of groupBy(lost, (execution) => execution.projectId)) {
      for (let at = 0; at < theirs.length; at += CHUNK) {
        // One that fails does not keep the others from it.
        await recover(deps, { projectId, lost: theirs.slice(at, at + CHUNK) }).catch((error: Error) =>
          deps.log.warn(
            { projectId, reason: describeFailure(error) },
            'executions without a workflow were not recovered',
          ),
        );
      }
    }
  } while (page.length === PAGE && Date.now() < until);
}

async function findLost({ lifecycle }: Deps, page: OpenExecution[]): Promise<Lost[]> {
  const stopped = await lifecycle.findStoppedExecutions(page.map(({ id }) => id));
  const statuses = new Map(stopped.map(({ executionId, status }) => [executionId, status]));
  return page.flatMap((execution) => {
    const status = statuses.get(execution.id);
    return status === undefined ? [] : [{ ...execution, status }];
  });
}

async function recover({ db, lifecycle, log }: Deps, p: { projectId: string; lost: Lost[] }): Promise<void> {
  const { projectId, lost } = p;
  const forgotten = lost.filter(({ status }) => status === null);
  const outbox = await inTransaction(db, async (trx) => {
    const rows: OutboxRow[] = await restartExecutions(trx, { projectId, executions: forgotten });
    for (const [status, end] of Object.entries(ENDS)) {
      const ids = lost.filter((execution) => execution.status === status).map(({ id }) => id);
      const where = sql<boolean>`id = ANY(${ids}::uuid[])`;
      if (ids.length > 0) rows.push(...(await endExecutions(trx, { projectId, where, ...end })).outbox);
    }
    return rows;
  });
  lifecycle.dispatch(outbox);
  const restarted = outbox.filter(({ kind }) => kind === 'execution.start').length;
  if (outbox.length > 0)
    log.warn({ projectId, restarted, ended: outbox.length - restarted }, 'executions had no workflow');
}
