/** Time without PIPELINING after a server mixed up replies. An hour costs little, and the server may then be fixed. */
const DOUBT_MS = 3_600_000;

/** Servers that offer PIPELINING but mix up their replies. For a while, no connection to them uses it. */
export class PipeliningDoubts {
  private readonly until = new Map<string, number>();
  private readonly now: () => number;

  /** @param now returns milliseconds since any fixed moment */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** Remembers a server (`host:port`) for an hour; returns true if it was not remembered already. */
  note(server: string): boolean {
    if (this.has(server)) return false;
    this.until.set(server, this.now() + DOUBT_MS);
    return true;
  }

  has(server: string): boolean {
    return this.now() < (this.until.get(server) ?? Number.NEGATIVE_INFINITY);
  }
}

/** All pools of the process share this, because they use the same server. So one pool's discovery serves all. */
export const pipeliningDoubts = new PipeliningDoubts();
