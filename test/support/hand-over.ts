import { deleteOutboxRows } from '../../db/outbox/outbox.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { splitIntoGroups } from '../../temporal/groups.ts';
import { connectLifecycle } from './lifecycle.ts';
import type { TestService } from './service.ts';

/** Hands the waiting outbox rows of a record to Temporal, like a worker that ends right afterwards. */
export async function handOverToTemporal(service: TestService, refId: string): Promise<void> {
  const { db } = service;
  const found = await db.selectFrom('outbox').selectAll().where('ref_id', '=', refId).orderBy('id').execute();
  const rows = found.map(
    ({ id, project_id: projectId, kind, payload }) => ({ id, projectId, kind, refId, payload }) as OutboxRow,
  );
  const lifecycle = await connectLifecycle(service);
  try {
    for (const group of splitIntoGroups(rows)) {
      const handed = await lifecycle.handOver(group);
      if (handed.outcome !== 'accepted') throw new Error(`Temporal did not take it: ${JSON.stringify(handed)}`);
    }
  } finally {
    await lifecycle.close();
  }
  await deleteOutboxRows(
    db,
    rows.map((row) => row.id),
  );
}
