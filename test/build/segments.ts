import type { Db } from '../../db/connection.ts';
import { insertSegment } from '../../db/segments/segments.ts';
import { inTransaction } from '../../db/transaction.ts';
import { parseCondition } from '../../rules/filters/filters.ts';

/**
 * Builds a tracked segment of the contacts whose tag is the segment's name. The segment is not computed yet. Returns
 * its id.
 */
export async function buildSegment(db: Db, { projectId, name }: { projectId: string; name: string }): Promise<string> {
  const conditions = [{ field: 'data.tag', operator: 'equals', value: name }];
  const condition = parseCondition({ operator: 'AND', conditions });
  const segment = { projectId, name, description: null, condition, trackMembership: true, type: 'DYNAMIC' as const };
  return (await inTransaction(db, (trx) => insertSegment(trx, segment))).id;
}
