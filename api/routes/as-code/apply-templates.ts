import type { Compute } from '../../../compute/compute.ts';
import type { Db } from '../../../db/connection.ts';
import { insertTemplate, listAllTemplates, type Template, updateTemplate } from '../../../db/contents/templates.ts';
import { changedFields } from '../../../rules/as-code/changes.ts';
import { withIds } from '../../../rules/as-code/references.ts';
import { changedEmailText } from '../email-text.ts';
import { refuseBadContent } from '../templates/content-check.ts';
import { CreateTemplate, PatchTemplate, refuseTopicOnTransactional } from '../templates/input.ts';
import { type Applying, mayBeSender, parseItem, recordChange, refuseUnknown, withFieldPrefix } from './applying.ts';
import type { TemplateItem } from './input.ts';

/**
 * Checks the content of changed templates. Runs before anything is locked, because trial renderings wait for their
 * turn. Stored content was checked when it was saved.
 * @throws AppError VALIDATION_ERROR
 */
export async function checkTemplates(
  p: { db: Db; compute: Compute; projectId: string },
  items: readonly TemplateItem[],
): Promise<void> {
  if (items.length === 0) return;
  const stored = bySlug(await listAllTemplates(p.db, p.projectId));
  for (const [i, item] of items.entries()) {
    const current = stored.get(item.slug);
    const type = item.type ?? current?.type ?? 'TRANSACTIONAL';
    const content = { ...changedEmailText<string | null>(item, current), type };
    if (current && changedFields(content, current).length === 0) continue;
    const judged = { projectId: p.projectId, content, stored: current ? [current] : [] };
    await withFieldPrefix(`templates.${i}`, () => refuseBadContent(p.compute, judged));
  }
}

export async function applyTemplates(applying: Applying, items: readonly TemplateItem[]): Promise<void> {
  if (items.length === 0) return;
  const stored = bySlug(await listAllTemplates(applying.trx, applying.projectId));
  for (const [i, item] of items.entries()) {
    const place = `templates.${i}`;
    await withFieldPrefix(place, () => applyTemplate(applying, { item, place, current: stored.get(item.slug) }));
  }
}

async function applyTemplate(
  applying: Applying,
  p: { item: TemplateItem; place: string; current: Template | undefined },
): Promise<void> {
  const { trx, projectId, ids } = applying;
  const { item, current } = p;
  const named = withIds(item, ids, (name) => refuseUnknown([name], ''));
  const of = { kind: 'template' as const, slug: item.slug };
  if (current) {
    const wanted = parseItem(PatchTemplate, named, '');
    const changes = changedFields(wanted, current);
    const stays = changes.includes('from') && wanted.from && !(await mayBeSender(applying, wanted.from, of));
    const applied = stays ? changes.filter((name) => name !== 'from') : changes;
    const { from, ...rest } = wanted;
    if (applied.length > 0) {
      refuseTopicOnTransactional(
        await updateTemplate(trx, { projectId, id: current.id, changes: stays ? rest : { from, ...rest } }),
      );
    }
    return recordChange(applying, { ...of, name: wanted.name ?? current.name }, applied);
  }
  const given = parseItem(CreateTemplate, named, '');
  refuseTopicOnTransactional(given);
  const from = given.from && (await mayBeSender(applying, given.from, of)) ? given.from : null;
  const { name, slug, description = null, type } = given;
  const fields = {
    ...given,
    name,
    description,
    type,
    topicId: given.topicId ?? null,
    ...changedEmailText<string | null>({ ...given, from }),
  };
  const { id } = await insertTemplate(trx, { ...fields, projectId, slug });
  ids.template.set(item.slug, id);
  recordChange(applying, { ...of, name }, undefined);
}

function bySlug(templates: readonly Template[]): Map<string, Template> {
  return new Map(templates.map((template) => [template.slug, template]));
}
