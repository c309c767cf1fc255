/**
 * How long the service uses no PIPELINING with a server that mixed up replies. An hour without PIPELINING costs little,
 * and the server may be fixed afterwards.
 */
const DOUBT_MS = 3_600_000;

/**
 * Remembers servers that offer PIPELINING but mix up their replies. For an hour, no connection to such a server uses
 * PIPELINING.
 */
export class PipeliningDoubts {
  private readonly until = new Map<string, number>();
  private readonly now: () => number;

  /** @param now returns milliseconds since any fixed moment */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** Adds a server (`host:port`) to the list for an hour. Returns true if the server was not in the list. */
  add(server: string): boolean {
    if (this.has(server)) return false;
    this.until.set(server, this.now() + DOUBT_MS);
    return true;
  }

  has(server: string): boolean {
    return this.now() < (this.until.get(server) ?? Number.NEGATIVE_INFINITY);
  }
}

/**
 * The servers that have mixed up replies to this process. All pools share this list, because several pools may use the
 * same server.
 */
export const pipeliningDoubts = new PipeliningDoubts();
