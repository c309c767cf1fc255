import pg from 'pg';
import type { Logger } from 'pino';
import { describeFailure } from '../rules/failure-text.ts';

/** The connection counts as broken if a check gets no response within this time. */
const RESPONSE_MS = 2_000;
const RECONNECT_MS = 500;

export interface Listener {
  /**
   * True from the LISTEN until the connection is known to be broken. A cut connection is noticed after at most one
   * heartbeat interval and 2 s.
   */
  isLive(): boolean;
  close(): Promise<void>;
}

export interface ListenOptions {
  databaseUrl: string;
  /** The channel of NOTIFY, as an identifier. */
  channel: string;
  applicationName: string;
  log: Pick<Logger, 'warn'>;
  /**
   * Log message after a failed attempt to connect. It tells the operator what happens while notifications are missing.
   */
  downMessage: string;
  /**
   * Interval in milliseconds at which the connection is checked. Without these checks, a cut cable would not be
   * noticed.
   */
  heartbeatMs: number;
  /**
   * Called with the payload of each notification. Called without a payload whenever notifications may have been missed.
   */
  onNotification: (payload?: string) => void;
}

/** Keeps one connection on LISTEN, and reopens it when it breaks. */
export function listen({
  databaseUrl,
  channel,
  applicationName,
  log,
  downMessage,
  heartbeatMs,
  onNotification,
}: ListenOptions): Listener {
  let client: pg.Client | undefined;
  let live = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  function reconnect(which: pg.Client): void {
    if (client !== which) return;
    client = undefined;
    live = false;
    onNotification();
    // end() of a broken connection may wait for the network, so it is not awaited.
    which.end().catch(() => {});
    if (!closed) timer = setTimeout(() => void openConnection(), RECONNECT_MS);
  }

  async function openConnection(): Promise<void> {
    if (closed) return;
    const next = new pg.Client({
      connectionString: databaseUrl,
      application_name: applicationName,
      connectionTimeoutMillis: 5_000,
      query_timeout: RESPONSE_MS,
      keepAlive: true,
    });
    client = next;
    next.on('error', () => reconnect(next));
    next.on('end', () => reconnect(next));
    next.on('notification', ({ payload }) => onNotification(payload));
    try {
      await next.connect();
      await next.query(`LISTEN ${channel}`);
      onNotification();
      live = true;
      checkConnection(next);
    } catch (error) {
      log.warn({ reason: describeFailure(error) }, downMessage);
      reconnect(next);
    }
  }

  function checkConnection(which: pg.Client): void {
    if (closed || client !== which) return;
    timer = setTimeout(() => {
      which.query('SELECT 1').then(
        () => checkConnection(which),
        () => reconnect(which),
      );
    }, heartbeatMs);
    timer.unref();
  }

  void openConnection();
  return {
    isLive: () => live,
    async close() {
      closed = true;
      live = false;
      clearTimeout(timer);
      const last = client;
      client = undefined;
      await last?.end().catch(() => {});
    },
  };
}
