import type { Tap } from './fault-proxy.ts';

/** Causes a failure at a certain moment of a protocol, for example before a reply is forwarded. */
export interface Trap {
  /** Causes a failure at each of the next `count` moments. */
  arm(count: number): void;
  /** Causes no more failures. */
  disarm(): void;
  /** Returns the number of failures that the trap has caused. */
  countFailures(): number;
  tap(): Tap;
}

/** The simple query COMMIT, as db/unknown-commit.ts sends it. */
const COMMIT = Buffer.concat([Buffer.from('Q'), Buffer.from([0, 0, 0, 11]), Buffer.from('COMMIT\0')]);

/** Creates a trap that forwards a COMMIT to Postgres, and closes the connection instead of forwarding the response. */
export function createCommitTrap(): Trap {
  let armed = 0;
  let failures = 0;
  return {
    arm: (count) => {
      armed += count;
    },
    disarm: () => {
      armed = 0;
    },
    countFailures: () => failures,
    tap: () => {
      let failsNext = false;
      return {
        up: (chunk) => {
          if (armed === 0 || failsNext || chunk.indexOf(COMMIT) === -1) return;
          armed -= 1;
          failsNext = true;
        },
        down: () => {
          if (!failsNext) return 'pass';
          failures += 1;
          return 'cut';
        },
      };
    },
  };
}

/**
 * Creates a trap that closes the connection to the relay instead of forwarding its reply to a message. Whenever a
 * connection ends, `inDoubt` receives the emails that were sent on this connection and had no reply yet.
 */
export function createReplyTrap(inDoubt: (messageId: string) => void): Trap {
  let armed = 0;
  let failures = 0;
  return {
    arm: (count) => {
      armed += count;
    },
    disarm: () => {
      armed = 0;
    },
    countFailures: () => failures,
    tap: () => {
      let rest = '';
      let unanswered: string[] = [];
      return {
        up: (chunk) => {
          rest += chunk.toString('latin1');
          for (let end = rest.indexOf('\r\n.\r\n'); end !== -1; end = rest.indexOf('\r\n.\r\n')) {
            unanswered.push(/^message-id:\s*(<[^>]*>)/im.exec(rest.slice(0, end))?.[1] ?? 'none');
            rest = rest.slice(end + 5);
          }
        },
        down: (chunk) => {
          const replies = chunk.toString('latin1').split('queued as').length - 1;
          if (replies > 0 && armed > 0) {
            armed -= 1;
            failures += 1;
            return 'cut';
          }
          unanswered = unanswered.slice(replies);
          return 'pass';
        },
        closed: () => unanswered.forEach(inDoubt),
      };
    },
  };
}
