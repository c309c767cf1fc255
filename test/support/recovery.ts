import { pino } from 'pino';
import { recoverEverything } from '../../activities/recovery/recovery.ts';
import { connectLifecycle } from './lifecycle.ts';
import type { TestService } from './service.ts';

/** A line of recovery's log. */
export interface RepairLine {
  msg: string;
  done?: string;
  level: number;
  [field: string]: unknown;
}

export interface Recovery {
  /** Runs a whole round, which also checks new records. Returns the repairs. */
  round(): Promise<RepairLine[]>;
  close(): Promise<void>;
}

/** Creates recovery for a test service. The test starts each of its rounds. */
export async function connectRecovery(service: Pick<TestService, 'db' | 'temporal'>): Promise<Recovery> {
  const lifecycle = await connectLifecycle(service);
  return {
    round: async () => {
      const lines: RepairLine[] = [];
      const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line) as RepairLine) });
      await recoverEverything({ db: service.db, outbox: { wake: () => {} }, lifecycle, log }, { settledMs: 0 });
      return lines;
    },
    close: () => lifecycle.close(),
  };
}
