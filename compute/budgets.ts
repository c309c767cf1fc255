import { LimitReached } from '../rules/errors.ts';

/** What a project may save up: a preview after a quiet minute waits for nobody. In seconds of its rate. */
const BURST_SECONDS = 2;
/** Works of one project under way at a time: one computes while another one waits for what it needs. */
const OF_PROJECT = 2;
/** Works of one project that wait at most: beyond it an answer would come too late for anybody. */
const WAITING_MAX = 100;
/** Whoever has given up comes again no sooner: to ask costs something too. */
const RETRY_MIN_MS = 1_000;
/** How long one waits unless it says otherwise: an answer that takes longer is asked for again anyway. */
const MAX_WAIT_MS = 10_000;

/** Whose work it is, and what: `kind` stands in the log and in metrics (`email.preview`). */
export interface Work {
  projectId: string;
  kind: string;
  /** Nobody waits for this piece: it comes after those of the project for which somebody does. */
  bulk?: boolean;
  /** Who would wait longer is told `OverBudget` instead, to give up what others may need meanwhile. */
  maxWaitMs?: number;
}

/**
 * The project has used up what it may compute in this process; nothing was done. For a caller of the API it is 429 with
 * Retry-After.
 */
export class OverBudget extends LimitReached {
  constructor(retryAfterMs: number) {
    super({
      message:
        'This project computes more than its share just now: rendering, previews, imports, large requests and large lists of it wait.',
      retryAfterMs,
    });
  }
}

export interface Budgets {
  /**
   * Runs `work` as soon as its project has something left of its budget, and takes from it what `charge` is told:
   * milliseconds of a processor. Works of one project wait for each other only, in order, those that are `bulk` last.
   * @throws OverBudget
   */
  run<T>(p: Work, work: (charge: (cpuMs: number) => void) => Promise<T>): Promise<T>;
}

interface Waiting {
  start: () => void;
  bulk: boolean;
}

/**
 * Of one project. `ms` is what it has left at `atMs`; a work may take more than that, and those after it wait until it
 * is made up for.
 */
interface Account {
  ms: number;
  atMs: number;
  running: number;
  waiting: Waiting[];
  timer: NodeJS.Timeout | undefined;
}

/** A budget of processor time for each project in this process; `cpuMsPerSecond` 0 is no limit. */
export function createBudgets(options: BudgetOptions): Budgets {
  const { cpuMsPerSecond, ofProcess = Number.POSITIVE_INFINITY, now = () => performance.now() } = options;
  const rate = cpuMsPerSecond > 0 ? cpuMsPerSecond / 1_000 : Number.POSITIVE_INFINITY;
  const burst = cpuMsPerSecond > 0 ? cpuMsPerSecond * BURST_SECONDS : Number.POSITIVE_INFINITY;
  /** In the order of their turns, where there is not room for all. */
  const accounts = new Map<string, Account>();
  let running = 0;

  const hasRoom = (account: Account): boolean => running < ofProcess && account.running < OF_PROJECT;

  function accountOf(projectId: string): Account {
    const kept = accounts.get(projectId);
    if (kept) return kept;
    const made: Account = { ms: burst, atMs: now(), running: 0, waiting: [], timer: undefined };
    accounts.set(projectId, made);
    return made;
  }

  function refill(account: Account): void {
    const atMs = now();
    if (Number.isFinite(rate)) account.ms = Math.min(burst, account.ms + (atMs - account.atMs) * rate);
    account.atMs = atMs;
  }

  const untilDueMs = ({ ms }: Account): number => (ms > 0 ? 0 : Math.ceil(-ms / rate) + 1);

  /** Lets in who may begin, and looks again when the budget has something left. */
  function letIn(projectId: string, account: Account): void {
    refill(account);
    clearTimeout(account.timer);
    account.timer = undefined;
    while (account.waiting.length > 0 && hasRoom(account) && account.ms > 0) {
      const first = account.waiting.findIndex(({ bulk }) => !bulk);
      const [next] = account.waiting.splice(Math.max(0, first), 1);
      // The place is taken here, so that nobody who comes later slips in between.
      account.running += 1;
      running += 1;
      next?.start();
    }
    if (account.waiting.length > 0 && hasRoom(account)) {
      account.timer = setTimeout(() => letIn(projectId, account), untilDueMs(account)).unref();
    } else if (account.running === 0 && account.waiting.length === 0 && account.ms >= burst) accounts.delete(projectId);
  }

  /** A place is free: who waits for one of the process comes before the project that has had it. */
  function letInNext(projectId: string, account: Account): void {
    if (ofProcess !== Number.POSITIVE_INFINITY) {
      accounts.delete(projectId);
      accounts.set(projectId, account);
      for (const [other, theirs] of [...accounts]) if (theirs.waiting.length > 0) letIn(other, theirs);
    }
    letIn(projectId, account);
  }

  function enter({ projectId, bulk = false, maxWaitMs = MAX_WAIT_MS }: Work, account: Account): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = () => {
        const at = account.waiting.indexOf(waiting);
        if (at >= 0) account.waiting.splice(at, 1);
        refill(account);
        reject(new OverBudget(Math.max(untilDueMs(account), RETRY_MIN_MS)));
      };
      const timer = setTimeout(refuse, maxWaitMs);
      const waiting: Waiting = {
        bulk,
        start: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      account.waiting.push(waiting);
      letIn(projectId, account);
      const hopeless = account.waiting.length > WAITING_MAX || untilDueMs(account) > maxWaitMs;
      if (!account.waiting.includes(waiting) || !hopeless) return;
      clearTimeout(timer);
      refuse();
    });
  }

  return {
    async run(p, work) {
      const account = accountOf(p.projectId);
      await enter(p, account);
      try {
        return await work((cpuMs) => {
          refill(account);
          account.ms -= cpuMs;
        });
      } finally {
        account.running -= 1;
        running -= 1;
        letInNext(p.projectId, account);
      }
    },
  };
}

export interface BudgetOptions {
  cpuMsPerSecond: number;
  /** Works under way at a time, of all projects together; no limit unless given. */
  ofProcess?: number;
  /** The clock in milliseconds; for tests. */
  now?: () => number;
}
