/** A middlebox that mixes up answers is replaced or configured sooner or later; until then an hour costs little. */
const DOUBT_MS = 3_600_000;

/** Servers that offer PIPELINING and cannot do it: for a while no connection to them uses it. */
export class PipeliningDoubts {
  private readonly until = new Map<string, number>();
  private readonly now: () => number;

  /** `now`: milliseconds since any moment. */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** Notes a server, `host:port`, for an hour; true when it was not known. */
  note(server: string): boolean {
    if (this.has(server)) return false;
    this.until.set(server, this.now() + DOUBT_MS);
    return true;
  }

  has(server: string): boolean {
    return this.now() < (this.until.get(server) ?? Number.NEGATIVE_INFINITY);
  }
}

/** Shared by the process's pools, which have the same server; one of them finding out is enough. */
export const pipeliningDoubts = new PipeliningDoubts();
