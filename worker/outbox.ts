import type { Logger } from 'pino';
import type { ActivityDeps } from '../activities/deps.ts';
import type { SendingGate } from '../activities/sending-hold.ts';
import type { LoopWatch } from '../compute/loop-watch.ts';
import type { Db } from '../db/connection.ts';
import { listen } from '../db/listen.ts';
import type { StartedWork } from '../rules/executions/started-work.ts';
import { OUTBOX_CHANNEL, type OutboxLoopName, TEMPORAL_PRIORITIES } from '../rules/outbox.ts';
import type { TaskQueue } from '../rules/queues.ts';
import {
  createEmailChannel,
  createLargeEmailChannel,
  createSimulatedFeedbackChannel,
  createSmsChannel,
} from './direct-channels.ts';
import { type DirectChannel, startDirectSender } from './direct-sender.ts';
import { startDispatcher } from './outbox-dispatcher.ts';
import { startOutboxPoll } from './outbox-poll.ts';

/**
 * The connection for Postgres's notifications is checked at this interval. The interval can be long, because polls find
 * rows even while the connection is broken.
 */
const HEARTBEAT_MS = 30_000;

interface Taker {
  wake(): void;
  stop(): Promise<void>;
}

export interface RunningOutbox {
  /** Wakes the given loops of this process, or all loops if called without an argument. */
  wake(takers?: OutboxLoopName[]): void;
  /** Records that this worker has seen the work of a row start in Temporal. */
  noteStarted(started: StartedWork): void;
  /** Takes no more rows. Resolves when all taken rows are finished or released. */
  stop(): Promise<void>;
}

/**
 * Starts the loops that take rows of the outbox in a worker process. A process that serves the queue `transactional`
 * sends single emails and SMS itself. A process that serves the queue `workflows` hands the other rows to Temporal.
 * Such a process also records when the work of these rows starts in Temporal (`noteStarted`), so that more rows can be
 * handed over.
 */
export function startOutbox(p: {
  databaseUrl: string;
  deps: ActivityDeps;
  queues: ReadonlySet<TaskQueue>;
  gate: SendingGate;
  loop: Pick<LoopWatch, 'runAs'>;
  log: Logger;
}): RunningOutbox {
  const { deps, queues, gate, loop, log } = p;
  const db: Db = deps.db;
  /** Wraps a channel. If the channel blocks the event loop, the log and the metric then contain the channel's name. */
  const withNameInReports = (channel: DirectChannel): DirectChannel => ({
    ...channel,
    attempt: (...args) => loop.runAs(`direct ${channel.name}`, () => channel.attempt(...args)),
  });
  const takers: Partial<Record<OutboxLoopName, Taker>> = {};
  const priorities = new Map<OutboxLoopName, readonly number[]>();
  const startSender = (taker: OutboxLoopName, channel: DirectChannel) => {
    takers[taker] = startDirectSender({ db, channel: withNameInReports(channel), gate, log });
    priorities.set(taker, [channel.priority]);
  };
  if (queues.has('transactional')) {
    startSender('email', createEmailChannel(deps));
    startSender('largeEmail', createLargeEmailChannel(deps));
    startSender('sms', createSmsChannel(deps));
    startSender('simulator', createSimulatedFeedbackChannel(deps));
  }
  const dispatcher = queues.has('workflows') ? startDispatcher({ db, lifecycle: deps.lifecycle, log }) : undefined;
  if (dispatcher) {
    takers.temporal = dispatcher;
    priorities.set('temporal', TEMPORAL_PRIORITIES);
  }
  const all = [...priorities.keys()];
  const wake = (which: OutboxLoopName[] = all) => {
    for (const taker of which) takers[taker]?.wake();
  };
  const listener = listen({
    databaseUrl: p.databaseUrl,
    channel: OUTBOX_CHANNEL,
    applicationName: 'tidings-worker-listen',
    log,
    downMessage: 'notifications of the outbox are down; until they are back, the worker finds new rows by polling',
    heartbeatMs: HEARTBEAT_MS,
    onNotification: (payload) => wake(payload === undefined ? all : [payload as OutboxLoopName]),
  });
  const poll = startOutboxPoll({ db, priorities, wake, log });
  return {
    wake,
    noteStarted: (started) => dispatcher?.noteStarted(started),
    stop: async () => {
      await Promise.all([listener.close(), poll.stop()]);
      await Promise.all(all.map((taker) => takers[taker]?.stop()));
    },
  };
}
