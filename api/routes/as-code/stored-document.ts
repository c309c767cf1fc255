import { listAllDrafts } from '../../../db/campaigns/campaign-files.ts';
import type { Db } from '../../../db/connection.ts';
import { listAllTemplates } from '../../../db/contents/templates.ts';
import { listWorkflowDetails } from '../../../db/workflows/workflows.ts';
import type { StoredFields } from '../../http/stored-fields.ts';
import { campaignFields, isObject } from './document.ts';

/** Compares a refused document with the resources that it names. */
export const STORED_DOCUMENT: StoredFields = {
  depth: 3,
  load: ({ db }, { projectId, body }) => readStoredDocument(db, projectId, body),
};

/**
 * Returns the templates, workflows and drafts that a document names, each at its place in the document. Their text and
 * events may have been saved before a newer rule. References are ids, because no rule refuses a slug that exists.
 */
async function readStoredDocument(db: Db, projectId: string, body: unknown): Promise<object | undefined> {
  if (!isObject(body)) return undefined;
  const { templates, workflows, campaigns } = body;
  return {
    templates: atPlaces(templates, templates ? await listAllTemplates(db, projectId) : []),
    workflows: atPlaces(workflows, workflows ? await listWorkflowDetails(db, projectId) : []),
    campaigns: atPlaces(campaigns, campaigns ? await draftFields(db, projectId) : []),
  };
}

async function draftFields(db: Db, projectId: string) {
  const drafts = await listAllDrafts(db, projectId);
  return drafts.map((draft) => ({ slug: draft.slug, ...campaignFields(draft) }));
}

/** Returns for each item of a document the record with its slug. */
function atPlaces(items: unknown, records: readonly { slug: string }[]): unknown[] {
  const bySlug = new Map<unknown, object>(records.map((record) => [record.slug, record]));
  return Array.isArray(items) ? items.map((item: unknown) => bySlug.get(isObject(item) ? item.slug : undefined)) : [];
}
