import { createRoute, type z } from '@hono/zod-openapi';
import { ping } from '../../../db/connection.ts';
import { readSendingHold } from '../../../db/installation/sending-hold.ts';
import { listPeriodicWork } from '../../../db/operator/periodic-work.ts';
import { readOutboxFacts, readPostgresFacts } from '../../../db/operator/postgres-facts.ts';
import { listProcesses } from '../../../db/operator/processes.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse } from '../../http/responses.ts';
import { allowSession } from '../../http/security.ts';
import { requireOperator } from './access.ts';
import { OperatorHealth, toPeriodicWorkResponse, toProcessResponse, toSendingHoldResponse } from './response.ts';

const route = createRoute({
  method: 'get',
  path: '/operator/health',
  operationId: 'getOperatorHealth',
  insteadOfKey: 'Run npm run operator on the host of the service',
  tags: ['Operator'],
  summary: 'Get the state of the installation',
  description:
    'Returns the state of Postgres, Temporal and its task queues, the outbox by kind, periodic work, and the running processes with their versions. Only for accounts in `OPERATORS`. As for all operations under `/operator`, other accounts get 404.',
  security: allowSession(),
  responses: { 200: jsonResponse(OperatorHealth) },
});

export function registerOperatorHealthRoutes(app: App, deps: Deps): void {
  const { db, reads, lifecycle, release } = deps;
  app.openapi(route, async (c) => {
    await requireOperator(c, deps);
    const pingMs = await measureMs(() => ping(db));
    const [facts, temporal, outbox, periodic, processes, sendingHold] = await Promise.all([
      readPostgresFacts(reads),
      readTemporalState(lifecycle),
      readOutboxFacts(reads),
      listPeriodicWork(reads),
      listProcesses(reads),
      readSendingHold(reads),
    ]);
    c.header('Cache-Control', 'no-store');
    const installation = { shortId: lifecycle.names.shortId, sendingHold: toSendingHoldResponse(sendingHold) };
    const response = { version: release?.version ?? null, postgres: { pingMs, ...facts }, temporal, outbox };
    const periodicWork = periodic.map(toPeriodicWorkResponse);
    return c.json({ ...response, installation, periodicWork, processes: processes.map(toProcessResponse) }, 200);
  });
}

/** Returns the state of Temporal, also if it is unreachable. */
async function readTemporalState(lifecycle: Deps['lifecycle']): Promise<z.infer<typeof OperatorHealth>['temporal']> {
  try {
    const pingMs = await measureMs(() => lifecycle.ping());
    return { reached: true, pingMs, queues: await lifecycle.readQueueStats() };
  } catch {
    return { reached: false, pingMs: null, queues: [] };
  }
}

/** Runs `work` and returns its duration in milliseconds, with one decimal. */
async function measureMs(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return Math.round((performance.now() - startedMs) * 10) / 10;
}
