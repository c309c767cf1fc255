import { countExportBytes } from '../../../db/as-code.ts';
import { listAllDrafts } from '../../../db/campaigns/campaign-files.ts';
import type { Db } from '../../../db/connection.ts';
import { listAllTemplates } from '../../../db/contents/templates.ts';
import { getProjectWithOwnSettings } from '../../../db/projects/projects.ts';
import { listAllSegments } from '../../../db/segments/segments.ts';
import { listAllTopics } from '../../../db/topics/topics.ts';
import { listWorkflowDetails } from '../../../db/workflows/workflows.ts';
import { DOCUMENT_MAX_BYTES } from '../../../rules/as-code/document-size.ts';
import type { Names } from '../../../rules/as-code/references.ts';
import { AppError } from '../../../rules/errors.ts';
import {
  toCampaignFile,
  toSegmentFile,
  toSettingsFile,
  toTemplateFile,
  toTopicFile,
  toWorkflowFile,
} from './document.ts';

/**
 * Returns the document of `GET /project/export`, read in one snapshot of the database.
 * @param p.campaigns whether to include drafts of campaigns, which needs a scope that older keys lack
 * @throws AppError CONFLICT if the document is larger than a request may be
 */
export function exportProject(db: Db, p: { projectId: string; secretKey: string; campaigns: boolean }) {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      await refuseTooLarge(trx, p.projectId);
      const topics = await listAllTopics(trx, p.projectId);
      const templates = await listAllTemplates(trx, p.projectId);
      const segments = await listAllSegments(trx, p.projectId);
      const workflows = await listWorkflowDetails(trx, p.projectId);
      const drafts = p.campaigns ? await listAllDrafts(trx, p.projectId) : undefined;
      const slugs = collectSlugs({ templates, segments, topics });
      return {
        version: 1 as const,
        settings: toSettingsFile(await getProjectWithOwnSettings(trx, p.projectId), slugs),
        templates: templates.map((template) => toTemplateFile(template, slugs)),
        segments: segments.map((segment) => toSegmentFile(segment, slugs)),
        topics: topics.map(toTopicFile),
        workflows: workflows.map((workflow) => toWorkflowFile(workflow, { slugs, secretKey: p.secretKey })),
        ...(drafts && { campaigns: drafts.map((draft) => toCampaignFile(draft, slugs)) }),
      };
    });
}

type Slugged = readonly { id: string; slug: string }[];

/** Returns the slugs of records by their ids, for each kind. */
export function collectSlugs(p: { templates: Slugged; segments: Slugged; topics: Slugged }): Names {
  const map = (records: Slugged) => new Map(records.map(({ id, slug }) => [id, slug]));
  return { template: map(p.templates), segment: map(p.segments), topic: map(p.topics) };
}

async function refuseTooLarge(db: Db, projectId: string): Promise<void> {
  const bytes = await countExportBytes(db, projectId);
  if (bytes <= DOCUMENT_MAX_BYTES) return;
  throw new AppError('CONFLICT', {
    message: `The project's templates, segments, steps and drafts have ${bytes} bytes. An export has at most ${DOCUMENT_MAX_BYTES}.`,
    details: { bytes, most: DOCUMENT_MAX_BYTES },
    suggestion: 'Use the lists instead: GET /templates, /segments and /workflows.',
  });
}
