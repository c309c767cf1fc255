import { insertTopic, listAllTopics, type Topic, updateTopic } from '../../../db/topics/topics.ts';
import { listChangedFields } from '../../../rules/as-code/changes.ts';
import { CreateTopic } from '../topics/input.ts';
import { type ApplyState, parseItem, recordChange, withFieldPrefix } from './apply-state.ts';
import type { TopicItem } from './input.ts';

export async function applyTopics(applying: ApplyState, items: readonly TopicItem[]): Promise<void> {
  if (items.length === 0) return;
  const all = await listAllTopics(applying.trx, applying.projectId);
  const stored = new Map(all.map((topic) => [topic.slug, topic]));
  for (const [i, item] of items.entries()) {
    await withFieldPrefix(`topics.${i}`, () => applyTopic(applying, { item, current: stored.get(item.slug) }));
  }
}

async function applyTopic(applying: ApplyState, p: { item: TopicItem; current: Topic | undefined }): Promise<void> {
  const { trx, projectId, ids } = applying;
  const { item, current } = p;
  const reference = { kind: 'topic' as const, slug: item.slug };
  if (current) {
    const changes = listChangedFields(item, current);
    if (changes.length > 0) await updateTopic(trx, { projectId, id: current.id }, item);
    return recordChange(applying, { ...reference, name: item.name ?? current.name }, changes);
  }
  const input = parseItem(CreateTopic, item, '');
  const { id } = await insertTopic(trx, { ...input, projectId });
  ids.topic.set(item.slug, id);
  recordChange(applying, { ...reference, name: input.name }, undefined);
}
