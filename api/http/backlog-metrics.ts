import { Gauge, type Registry } from 'prom-client';
import type { Backlog } from '../../db/outbox/outbox-backlog.ts';

/**
 * The number of projects that a metric lists by id: the projects with the most rows. All other projects are summed up
 * as `other`, to limit the number of series.
 */
const PROJECTS_MAX = 20;

/**
 * Registers gauges of the outbox, whose values are read on each scrape. Every API process reports the same values, so
 * queries in Prometheus should take the maximum over the processes, not the sum.
 */
export function registerBacklogMetrics(registry: Registry, read: () => Promise<Backlog[]>): void {
  const waiting = new Gauge({
    name: 'tidings_outbox_waiting',
    help: 'Rows of the outbox that no worker has taken, by kind and project.',
    labelNames: ['kind', 'project'],
    registers: [registry],
    async collect() {
      const backlog = await read().catch(() => undefined);
      for (const gauge of [waiting, handedOver, oldest]) gauge.reset();
      for (const entry of backlog ? labelBacklog(backlog) : []) {
        const labels = { kind: entry.kind, project: entry.project };
        waiting.inc(labels, entry.waiting);
        handedOver.inc(labels, entry.handedOver);
        oldest.set(labels, (Date.now() - entry.oldestAt.getTime()) / 1_000);
      }
    },
  });
  const handedOver = new Gauge({
    name: 'tidings_outbox_handed_over',
    help: 'Rows of the outbox that Temporal has received and not started, by kind and project.',
    labelNames: ['kind', 'project'],
    registers: [registry],
  });
  const oldest = new Gauge({
    name: 'tidings_outbox_oldest_seconds',
    help: 'Age of the oldest row of the outbox, by kind and project.',
    labelNames: ['kind', 'project'],
    registers: [registry],
  });
}

/**
 * Adds the value of the `project` label to each entry. Several entries can have the label `other`, and the gauge of the
 * oldest row then keeps the value that is set last. So the entries are returned with the oldest last.
 */
function labelBacklog(backlog: Backlog[]): (Backlog & { project: string })[] {
  const projectsByKind = new Map<string, number>();
  return backlog
    .map((entry) => {
      const rank = (projectsByKind.get(entry.kind) ?? 0) + 1;
      projectsByKind.set(entry.kind, rank);
      return { ...entry, project: rank <= PROJECTS_MAX ? entry.projectId : 'other' };
    })
    .sort((a, b) => b.oldestAt.getTime() - a.oldestAt.getTime());
}
