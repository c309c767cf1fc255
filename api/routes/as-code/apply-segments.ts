import { insertSegment, listAllSegments, type Segment, updateSegment } from '../../../db/segments/segments.ts';
import { listChangedFields } from '../../../rules/as-code/changes.ts';
import { listSegmentSlugs } from '../../../rules/as-code/references.ts';
import { createFieldError } from '../../../rules/errors.ts';
import { CreateSegment } from '../segments/input.ts';
import { type ApplyState, parseItem, recordChange, withFieldPrefix } from './apply-state.ts';
import { toStoredCondition } from './conditions.ts';
import type { SegmentItem } from './input.ts';

export async function applySegments(applying: ApplyState, items: readonly SegmentItem[]): Promise<void> {
  if (items.length === 0) return;
  const all = await listAllSegments(applying.trx, applying.projectId);
  const stored = new Map(all.map((segment) => [segment.slug, segment]));
  for (const { item, i } of orderByDependency(items)) {
    await withFieldPrefix(`segments.${i}`, () => applySegment(applying, { item, current: stored.get(item.slug) }));
  }
}

/**
 * Sorts segments so that each segment comes after the segments that its condition refers to.
 * @throws AppError VALIDATION_ERROR if they refer to each other in a cycle
 */
function orderByDependency(items: readonly SegmentItem[]): { item: SegmentItem; i: number }[] {
  const entries = new Map(items.map((item, i) => [item.slug, { item, i }]));
  const ordered: { item: SegmentItem; i: number }[] = [];
  const state = new Map<string, 'begun' | 'done'>();
  const visit = (slug: string): void => {
    const entry = entries.get(slug);
    if (!entry || state.get(slug) === 'done') return;
    if (state.get(slug) === 'begun') {
      throw createFieldError(
        `segments.${entry.i}.condition`,
        'The conditions of these segments refer to each other in a cycle.',
      );
    }
    state.set(slug, 'begun');
    for (const name of listSegmentSlugs(entry.item.condition)) visit(name);
    state.set(slug, 'done');
    ordered.push(entry);
  };
  for (const { slug } of items) visit(slug);
  return ordered;
}

async function applySegment(
  applying: ApplyState,
  p: { item: SegmentItem; current: Segment | undefined },
): Promise<void> {
  const { trx, projectId, ids } = applying;
  const { item, current } = p;
  const condition = toStoredCondition(applying, {
    condition: item.condition,
    stored: current?.condition,
    field: 'condition',
  });
  const reference = { kind: 'segment' as const, slug: item.slug };
  if (current) {
    if (item.type && item.type !== current.type)
      throw createFieldError('type', `The segment is ${current.type}, and its type cannot change.`);
    const { name, description, trackMembership } = item;
    const wanted = { name, description, trackMembership, condition };
    const changes = listChangedFields(wanted, current);
    if (changes.length > 0) {
      // The slug identifies the segment, so a new name must not change it.
      const patch = { ...wanted, slug: item.slug };
      await updateSegment(trx, { projectId, id: current.id, patch });
    }
    if (changes.includes('condition')) applying.segmentsToCount.push(current.id);
    return recordChange(applying, { ...reference, name: name ?? current.name }, changes);
  }
  const { filters: _, condition: __, ...input } = parseItem(CreateSegment, { ...item, condition }, '');
  const fields = { ...input, condition: condition ?? null, description: input.description ?? null };
  const { id } = await insertSegment(trx, { ...fields, projectId });
  ids.segment.set(item.slug, id);
  applying.segmentsToCount.push(id);
  recordChange(applying, { ...reference, name: input.name }, undefined);
}
