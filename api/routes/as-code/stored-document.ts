import { listAllDrafts } from '../../../db/campaigns/campaign-files.ts';
import type { Db } from '../../../db/connection.ts';
import { listAllTemplates } from '../../../db/contents/templates.ts';
import { listWorkflowDetails } from '../../../db/workflows/workflows.ts';
import type { StoredFields } from '../../http/stored-fields.ts';
import { isObject, toCampaignFields } from './document.ts';

/** How to load the stored resources that a document contains, to compare a refused document with them. */
export const STORED_DOCUMENT: StoredFields = {
  depth: 3,
  load: ({ db }, { projectId, body }) => readStoredDocument(db, projectId, body),
};

/**
 * Returns the stored templates, workflows and drafts of a document, at the same positions as in the document. Only
 * these kinds have text or events that may have been saved before a newer rule forbade them. The stored records refer
 * to other records by id, and the document by slug. This makes no difference, because no rule forbids a slug that
 * exists.
 */
async function readStoredDocument(db: Db, projectId: string, body: unknown): Promise<object | undefined> {
  if (!isObject(body)) return undefined;
  const { templates, workflows, campaigns } = body;
  return {
    templates: findRecordsOfItems(templates, templates ? await listAllTemplates(db, projectId) : []),
    workflows: findRecordsOfItems(workflows, workflows ? await listWorkflowDetails(db, projectId) : []),
    campaigns: findRecordsOfItems(campaigns, campaigns ? await listDraftFields(db, projectId) : []),
  };
}

async function listDraftFields(db: Db, projectId: string) {
  const drafts = await listAllDrafts(db, projectId);
  return drafts.map((draft) => ({ slug: draft.slug, ...toCampaignFields(draft) }));
}

/** Returns for each item of a document the stored record with the same slug, or undefined. */
function findRecordsOfItems(items: unknown, records: readonly { slug: string }[]): unknown[] {
  const bySlug = new Map<unknown, object>(records.map((record) => [record.slug, record]));
  return Array.isArray(items) ? items.map((item: unknown) => bySlug.get(isObject(item) ? item.slug : undefined)) : [];
}
