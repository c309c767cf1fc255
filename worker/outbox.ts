import type { Logger } from 'pino';
import type { ActivityDeps } from '../activities/deps.ts';
import type { SendingGate } from '../activities/sending-hold.ts';
import type { LoopWatch } from '../compute/loop-watch.ts';
import type { Db } from '../db/connection.ts';
import { listen } from '../db/listen.ts';
import type { Begun } from '../rules/executions/begun.ts';
import { OUTBOX_CHANNEL, type OutboxTaker } from '../rules/outbox.ts';
import type { Admission } from './admission.ts';
import { emailChannel, largeEmailChannel, simulatorChannel, smsChannel } from './direct-channels.ts';
import { type DirectChannel, startDirectSender } from './direct-sender.ts';
import { startDispatcher } from './outbox-dispatcher.ts';

export interface RunningOutbox {
  /** Wakes this process's own loops; undefined wakes all. */
  wake(takers?: OutboxTaker[]): void;
  /** Temporal was seen to begin something, by this worker. */
  begun(begun: Begun): void;
  /** Takes no more rows; resolves when those under way are through or given back. */
  stop(): Promise<void>;
}

/**
 * Everything of a worker process that takes rows of the outbox: single mails and SMS it sends itself, the rest it hands
 * to Temporal.
 */
export function startOutbox(p: {
  databaseUrl: string;
  deps: ActivityDeps;
  admission: Admission;
  gate: SendingGate;
  loop: Pick<LoopWatch, 'as'>;
  log: Logger;
}): RunningOutbox {
  const { deps, admission, gate, loop, log } = p;
  const db: Db = deps.db;
  const dispatcher = startDispatcher({ db, lifecycle: deps.lifecycle, admission, log });
  /** Should it hold the event loop, it is known by the channel. */
  const named = (channel: DirectChannel): DirectChannel => ({
    ...channel,
    attempt: (...args) => loop.as(`direct ${channel.name}`, () => channel.attempt(...args)),
  });
  const takers: Record<OutboxTaker, { wake(): void; stop(): Promise<void> }> = {
    email: startDirectSender({ db, channel: named(emailChannel(deps)), gate, log }),
    largeEmail: startDirectSender({ db, channel: named(largeEmailChannel(deps)), gate, log }),
    sms: startDirectSender({ db, channel: named(smsChannel(deps)), gate, log }),
    simulator: startDirectSender({ db, channel: named(simulatorChannel(deps)), gate, log }),
    temporal: dispatcher,
  };
  const all = Object.keys(takers) as OutboxTaker[];
  const wake = (which: OutboxTaker[] = all) => {
    for (const taker of which) takers[taker]?.wake();
  };
  const listener = listen({
    databaseUrl: p.databaseUrl,
    channel: OUTBOX_CHANNEL,
    applicationName: 'tidings-worker-listen',
    log,
    deaf: 'the outbox cannot be heard; it is looked at every second until it can',
    heard: (payload) => wake(payload === undefined ? all : [payload as OutboxTaker]),
  });
  return {
    wake,
    begun: dispatcher.begun,
    stop: async () => {
      await listener.close();
      await Promise.all(all.map((taker) => takers[taker].stop()));
    },
  };
}
