import { createRoute } from '@hono/zod-openapi';
import { insertAudit } from '../../../db/projects/audit-log.ts';
import { refreshMemberCount } from '../../../db/segments/contacts.ts';
import { getSegment } from '../../../db/segments/segments.ts';
import { DOCUMENT_MAX_BYTES } from '../../../rules/as-code/document-size.ts';
import { formatActor } from '../../http/actor.ts';
import { readClientAddress } from '../../http/client-address.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import type { Security } from '../../http/security.ts';
import { runPhoneUpdate } from '../project/phone-update.ts';
import { applyDocument, refuseMissingScopes } from './apply.ts';
import { checkCampaigns } from './apply-campaigns.ts';
import { checkTemplates } from './apply-templates.ts';
import { exportProject } from './export.ts';
import { ApplyProject } from './input.ts';
import { Applied, ExportedProject } from './response.ts';
import { STORED_DOCUMENT } from './stored-document.ts';

const tags = ['Project'];

/** Lists no scopes for keys, because the needed scopes depend on the document. `refuseMissingScopes` checks them. */
const APPLY_SECURITY: Security = [{ secretKey: [] }, { session: ['project:manage'] }];
const EXPORT_SECURITY: Security = [
  { secretKey: ['templates:view', 'segments:view', 'workflows:view', 'contacts:view'] },
  { session: ['project:manage'] },
];

const exportRoute = createRoute({
  method: 'get',
  path: '/project/export',
  operationId: 'exportProject',
  tags,
  summary: 'Export a project as a document',
  description:
    'Returns templates, segments, topics, workflows, campaign drafts and settings. References use slugs, and ids, dates and secrets are omitted, so that you can apply the document to another project. A key needs `campaigns:view` to include campaigns. Returns 409 if the document exceeds 8 MB.',
  security: EXPORT_SECURITY,
  responses: { 200: jsonResponse(ExportedProject), ...errorResponses('CONFLICT') },
});

const applyRoute = createRoute({
  method: 'post',
  path: '/project/apply',
  operationId: 'applyProject',
  tags,
  summary: 'Apply a document to a project',
  description:
    'Accepts the document of `GET /project/export`, or a part of it. Creates resources whose slug does not exist and changes resources that differ, in one transaction. Omitted resources do not change, but the steps and transitions of a workflow replace all existing ones. Applying a document twice changes nothing. A secret that is not in the document keeps its stored value. A sender on an unverified domain is reported as a finding, and the rest is applied. A session needs `project:manage`; an API key needs the edit scope of each kind in the document. At most 8 MB.',
  security: APPLY_SECURITY,
  stored: STORED_DOCUMENT,
  request: { body: jsonBody(ApplyProject) },
  responses: { 200: jsonResponse(Applied), ...errorResponses('FORBIDDEN', 'CONFLICT') },
});

export function registerAsCodeRoutes(app: App, deps: Deps): void {
  const { config, compute, db, reads, keys, outbox } = deps;
  const { secretKey, webhookAllowPrivate: allowPrivate } = config;

  app.openapi(exportRoute, async (c) => {
    const { projectId, scopes } = c.var;
    const work = { projectId, kind: 'project.export' };
    const request = { projectId, secretKey, campaigns: scopes.has('campaigns:view') };
    return c.json(await compute.runLargeRead(work, () => exportProject(reads, request)), 200);
  });

  app.openapi({ ...applyRoute, maxBodyBytes: DOCUMENT_MAX_BYTES }, async (c) => {
    const { projectId, actor, scopes } = c.var;
    const document = c.req.valid('json');
    refuseMissingScopes(document, scopes);
    await checkTemplates({ db, compute, projectId }, document.templates ?? []);
    await checkCampaigns({ db, compute, projectId }, document.campaigns ?? []);
    const ip = readClientAddress(c);
    const {
      response,
      outbox: queued,
      segmentsToCount,
      settings,
    } = await applyDocument(db, {
      projectId,
      secretKey,
      allowPrivate,
      document,
      mayManage: scopes.has('project:manage'),
      onSettings: (trx, details) =>
        insertAudit(trx, {
          projectId,
          action: 'project.updated',
          actor: formatActor(actor),
          target: null,
          ip,
          details,
        }),
    });
    outbox.wake(queued);
    if (Object.keys(settings).length > 0) keys.clear();
    if ('phoneCountry' in settings) await runPhoneUpdate(deps, projectId);
    for (const id of segmentsToCount) await refreshCount({ projectId, id });
    return c.json(response, 200);
  });

  /**
   * Counts the contacts of a segment again. The segment is already stored, so the request succeeds even if the count
   * fails.
   */
  async function refreshCount(ref: { projectId: string; id: string }): Promise<void> {
    try {
      await refreshMemberCount(reads, await getSegment(db, ref));
    } catch {
      // The previous count stays.
    }
  }
}
