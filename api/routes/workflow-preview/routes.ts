import { createRoute } from '@hono/zod-openapi';
import { getContact } from '../../../db/contacts/contacts.ts';
import { type PreviewRequest, previewExecution } from '../../../engine/automations/preview.ts';
import { applyData } from '../../../rules/filters/data-values.ts';
import { uuidv7 } from '../../../rules/uuid.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errors, json, ok } from '../../http/responses.ts';
import { scopes } from '../../http/security.ts';
import { runEventsOf, WorkflowParams } from '../executions/input.ts';
import { previewEffects } from './effects.ts';
import { PreviewWorkflow } from './input.ts';
import { previewResponse, WorkflowPreview } from './response.ts';

const previewRoute = createRoute({
  method: 'post',
  path: '/workflows/{id}/preview',
  operationId: 'previewWorkflow',
  idempotency: 'none',
  tags: ['Workflows'],
  summary: 'Preview a workflow for a contact',
  description:
    'Runs the workflow in simulated time, whether or not it is enabled. Returns the steps with their times, the branches with their conditions, and which messages would be sent or why not. Changes nothing and calls nothing: endpoints are assumed to respond with 200 unless `webhooks` says otherwise.',
  security: scopes('workflows:view'),
  request: { params: WorkflowParams, body: json(PreviewWorkflow) },
  responses: { 200: ok(WorkflowPreview), ...errors('RATE_LIMIT_EXCEEDED') },
});

export function workflowPreviewRoutes(app: App, { config, reads, compute }: Deps): void {
  app.openapi(previewRoute, async (c) => {
    const { id: workflowId } = c.req.valid('param');
    const { contactId, contact, event, context, startAt, events, webhooks } = c.req.valid('json');
    const { projectId, project } = c.var;
    if (contactId !== undefined) await getContact(reads, { projectId, id: contactId });
    const startsAt = startAt ?? new Date();
    const request: PreviewRequest = {
      projectId,
      workflowId,
      event: event ?? {},
      context: context ?? {},
      startAt: startsAt,
      ...(contactId === undefined ? previewContactOf(projectId, contact, startsAt) : { contactId }),
      events: runEventsOf(events),
      zone: project.timezone,
      effects: previewEffects({ db: reads, compute, config }, webhooks ?? []),
    };
    const previewed = await compute.page({ projectId, kind: 'workflow.preview' }, () =>
      previewExecution(reads, request),
    );
    return c.json(previewResponse({ workflowId, contactId: contactId ?? null }, previewed), 200);
  });
}

/** Returns the row of a contact for a person who is not a contact. */
function previewContactOf(
  projectId: string,
  contact: { email: string; subscribed: boolean; data?: Record<string, unknown> | null | undefined } | undefined,
  at: Date,
): Pick<PreviewRequest, 'contactId' | 'contact'> {
  const id = uuidv7();
  const [created_at, updated_at] = [at.toISOString(), at.toISOString()];
  const { set: data } = applyData(contact?.data);
  const { email = '', subscribed = true } = contact ?? {};
  return {
    contactId: id,
    contact: {
      id,
      project_id: projectId,
      email: email.trim().toLowerCase(),
      subscribed,
      data,
      untrusted_keys: [],
      created_at,
      updated_at,
    },
  };
}
