import { LimitReached } from '../rules/errors.ts';

/**
 * The limit of the unused budget that a project accumulates, in seconds of its rate. With this reserve, a preview after
 * a quiet minute does not wait.
 */
const BURST_SECONDS = 2;
/**
 * The maximum number of concurrent jobs of one project in one `Budgets`. One job can compute while another waits for
 * its input. A process has one `Budgets` for each kind of work (compute.ts).
 */
const JOBS_PER_PROJECT_MAX = 2;
/**
 * The maximum number of waiting jobs of one project in one `Budgets`. The result of a further job would come too late
 * to be useful.
 */
const WAITING_MAX = 100;
/** The minimum of `retryAfterMs` for a refused caller, because each retry needs some processor time. */
const RETRY_MIN_MS = 1_000;
/** The default of `maxWaitMs`. A caller whose request takes longer would send the request again. */
const MAX_WAIT_MS = 10_000;

/** Owner and kind of a job. `kind` appears in the log and in metrics (`email.preview`). */
export interface Work {
  projectId: string;
  kind: string;
  /** True if no one waits for the result. The job then runs after the project's other jobs. */
  bulk?: boolean;
  /** A longer wait throws `OverBudget`, so that the caller can release shared resources. */
  maxWaitMs?: number;
}

/**
 * The work was not started, because its project has used up its budget in this process or has too many jobs. The API
 * responds with 429 and Retry-After.
 */
export class OverBudget extends LimitReached {
  constructor(retryAfterMs: number) {
    super({
      message:
        'This project computes more than its share just now, so its rendering, previews, imports, large requests and large lists are delayed.',
      retryAfterMs,
    });
  }
}

export interface Budgets {
  /**
   * Runs `work` as soon as its project has budget and a free slot. `work` calls `charge` with its processor time,
   * which is subtracted from the budget. The jobs of a project start in order of arrival, except that a `bulk` job
   * starts after all waiting jobs that are not `bulk`. With `processJobsMax`, jobs also wait for the jobs of other
   * projects.
   * @throws OverBudget
   */
  run<T>(p: Work, work: (charge: (cpuMs: number) => void) => Promise<T>): Promise<T>;
}

interface WaitingJob {
  start: () => void;
  bulk: boolean;
}

/**
 * The budget and the jobs of one project. `ms` is the budget left at `updatedAtMs`. A job may use more than the budget
 * left. Later jobs then wait until `ms` is positive again.
 */
interface Account {
  ms: number;
  updatedAtMs: number;
  running: number;
  waiting: WaitingJob[];
  timer: NodeJS.Timeout | undefined;
}

/** Creates a budget of processor time for each project in this process. `cpuMsPerSecond` 0 means no limit. */
export function createBudgets(options: BudgetOptions): Budgets {
  const { cpuMsPerSecond, processJobsMax = Number.POSITIVE_INFINITY, now = () => performance.now() } = options;
  const rate = cpuMsPerSecond > 0 ? cpuMsPerSecond / 1_000 : Number.POSITIVE_INFINITY;
  const burst = cpuMsPerSecond > 0 ? cpuMsPerSecond * BURST_SECONDS : Number.POSITIVE_INFINITY;
  /** Accounts by project id. With `processJobsMax`, waiting projects get free slots in the map's order. */
  const accounts = new Map<string, Account>();
  let running = 0;

  const hasFreeSlot = (account: Account): boolean => running < processJobsMax && account.running < JOBS_PER_PROJECT_MAX;

  function getOrCreateAccount(projectId: string): Account {
    const existing = accounts.get(projectId);
    if (existing) return existing;
    const created: Account = { ms: burst, updatedAtMs: now(), running: 0, waiting: [], timer: undefined };
    accounts.set(projectId, created);
    return created;
  }

  function refill(account: Account): void {
    const updatedAtMs = now();
    if (Number.isFinite(rate)) account.ms = Math.min(burst, account.ms + (updatedAtMs - account.updatedAtMs) * rate);
    account.updatedAtMs = updatedAtMs;
  }

  const msUntilBudget = ({ ms }: Account): number => (ms > 0 ? 0 : Math.ceil(-ms / rate) + 1);

  /**
   * Starts the waiting jobs that may run now. If jobs still wait for budget, calls itself again when the budget is
   * positive.
   */
  function startJobs(projectId: string, account: Account): void {
    refill(account);
    clearTimeout(account.timer);
    account.timer = undefined;
    while (account.waiting.length > 0 && hasFreeSlot(account) && account.ms > 0) {
      const first = account.waiting.findIndex(({ bulk }) => !bulk);
      const [next] = account.waiting.splice(Math.max(0, first), 1);
      // Takes the slot before the job starts, so that a later job cannot take it.
      account.running += 1;
      running += 1;
      next?.start();
    }
    if (account.waiting.length > 0 && hasFreeSlot(account)) {
      account.timer = setTimeout(() => startJobs(projectId, account), msUntilBudget(account)).unref();
    } else if (account.running === 0 && account.waiting.length === 0 && account.ms >= burst) accounts.delete(projectId);
  }

  /**
   * Assigns the slot of a finished job. Other projects that wait for a slot of the process come before the project of
   * that job.
   */
  function startNextJobs(projectId: string, account: Account): void {
    if (processJobsMax !== Number.POSITIVE_INFINITY) {
      accounts.delete(projectId);
      accounts.set(projectId, account);
      for (const [otherId, other] of [...accounts]) if (other.waiting.length > 0) startJobs(otherId, other);
    }
    startJobs(projectId, account);
  }

  function awaitStart({ projectId, bulk = false, maxWaitMs = MAX_WAIT_MS }: Work, account: Account): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = () => {
        const at = account.waiting.indexOf(waiting);
        if (at >= 0) account.waiting.splice(at, 1);
        refill(account);
        reject(new OverBudget(Math.max(msUntilBudget(account), RETRY_MIN_MS)));
      };
      const timer = setTimeout(refuse, maxWaitMs);
      const waiting: WaitingJob = {
        bulk,
        start: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      account.waiting.push(waiting);
      startJobs(projectId, account);
      const isHopeless = account.waiting.length > WAITING_MAX || msUntilBudget(account) > maxWaitMs;
      if (!account.waiting.includes(waiting) || !isHopeless) return;
      clearTimeout(timer);
      refuse();
    });
  }

  return {
    async run(p, work) {
      const account = getOrCreateAccount(p.projectId);
      await awaitStart(p, account);
      try {
        return await work((cpuMs) => {
          refill(account);
          account.ms -= cpuMs;
        });
      } finally {
        account.running -= 1;
        running -= 1;
        startNextJobs(p.projectId, account);
      }
    },
  };
}

export interface BudgetOptions {
  cpuMsPerSecond: number;
  /** The maximum number of concurrent jobs of all projects together; no limit by default. */
  processJobsMax?: number;
  /** The clock in milliseconds; for tests. */
  now?: () => number;
}
