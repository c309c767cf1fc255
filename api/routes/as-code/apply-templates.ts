import type { Compute } from '../../../compute/compute.ts';
import type { Db } from '../../../db/connection.ts';
import { insertTemplate, listAllTemplates, type Template, updateTemplate } from '../../../db/contents/templates.ts';
import { listChangedFields } from '../../../rules/as-code/changes.ts';
import { replaceSlugsByIds } from '../../../rules/as-code/references.ts';
import { mergeEmailText } from '../email-text.ts';
import { refuseBadContent } from '../templates/content-check.ts';
import { CreateTemplate, PatchTemplate, refuseTopicOnTransactional } from '../templates/input.ts';
import {
  type ApplyState,
  checkSender,
  parseItem,
  recordChange,
  refuseUnknownSlugs,
  withFieldPrefix,
} from './apply-state.ts';
import type { TemplateItem } from './input.ts';

/**
 * Checks the content of changed templates. Runs before the transaction takes locks, because the check renders the
 * content, and renderings of a project wait for its processor budget. Unchanged content is not checked, because it was
 * checked when it was saved.
 * @throws AppError VALIDATION_ERROR
 */
export async function checkTemplates(
  p: { db: Db; compute: Compute; projectId: string },
  items: readonly TemplateItem[],
): Promise<void> {
  if (items.length === 0) return;
  const stored = indexBySlug(await listAllTemplates(p.db, p.projectId));
  for (const [i, item] of items.entries()) {
    const current = stored.get(item.slug);
    const type = item.type ?? current?.type ?? 'TRANSACTIONAL';
    const content = { ...mergeEmailText<string | null>(item, current), type };
    if (current && listChangedFields(content, current).length === 0) continue;
    const review = { projectId: p.projectId, content, stored: current ? [current] : [] };
    await withFieldPrefix(`templates.${i}`, () => refuseBadContent(p.compute, review));
  }
}

export async function applyTemplates(applying: ApplyState, items: readonly TemplateItem[]): Promise<void> {
  if (items.length === 0) return;
  const stored = indexBySlug(await listAllTemplates(applying.trx, applying.projectId));
  for (const [i, item] of items.entries()) {
    await withFieldPrefix(`templates.${i}`, () => applyTemplate(applying, { item, current: stored.get(item.slug) }));
  }
}

async function applyTemplate(
  applying: ApplyState,
  p: { item: TemplateItem; current: Template | undefined },
): Promise<void> {
  const { trx, projectId, ids } = applying;
  const { item, current } = p;
  const itemWithIds = replaceSlugsByIds(item, ids, (name) => refuseUnknownSlugs([name], ''));
  const reference = { kind: 'template' as const, slug: item.slug };
  if (current) {
    const wanted = parseItem(PatchTemplate, itemWithIds, '');
    const changes = listChangedFields(wanted, current);
    const keepsStoredSender =
      changes.includes('from') && wanted.from && !(await checkSender(applying, wanted.from, reference));
    const appliedChanges = keepsStoredSender ? changes.filter((name) => name !== 'from') : changes;
    const { from, ...rest } = wanted;
    if (appliedChanges.length > 0) {
      refuseTopicOnTransactional(
        await updateTemplate(trx, { projectId, id: current.id, changes: keepsStoredSender ? rest : { from, ...rest } }),
      );
    }
    return recordChange(applying, { ...reference, name: wanted.name ?? current.name }, appliedChanges);
  }
  const input = parseItem(CreateTemplate, itemWithIds, '');
  refuseTopicOnTransactional(input);
  const from = input.from && (await checkSender(applying, input.from, reference)) ? input.from : null;
  const { name, slug, description = null, type } = input;
  const fields = {
    ...input,
    name,
    description,
    type,
    topicId: input.topicId ?? null,
    ...mergeEmailText<string | null>({ ...input, from }),
  };
  const { id } = await insertTemplate(trx, { ...fields, projectId, slug });
  ids.template.set(item.slug, id);
  recordChange(applying, { ...reference, name }, undefined);
}

function indexBySlug(templates: readonly Template[]): Map<string, Template> {
  return new Map(templates.map((template) => [template.slug, template]));
}
