import { interpolateJson } from '../content/interpolate.ts';
import type { Data } from '../filters/data-values.ts';
import type { Sourced } from '../provenance/provenance.ts';

/** The execution whose step makes the request, with its contact and the variables for the config. */
export interface PayloadSource {
  execution: {
    id: string;
    workflowId: string;
    workflowName: string;
    startedAt: Date;
    event: Record<string, unknown>;
  };
  contact: { email: string; subscribed: boolean; data: Sourced<Data> };
  variables: Sourced<Data>;
}

/**
 * Builds the value that a WEBHOOK step sends: the body of its config, or else the contact, the workflow, the execution
 * and its event. The tenant's endpoint gets untrusted values unchanged, as with other webhooks.
 */
export function buildWebhookPayload({ body }: { body?: unknown }, source: PayloadSource): unknown {
  if (body !== undefined) return interpolateJson(body, source.variables).value;
  const { email, subscribed, data } = source.contact;
  const { id, workflowId, workflowName, startedAt, event } = source.execution;
  return {
    contact: { email, subscribed, data: data.values },
    workflow: { id: workflowId, name: workflowName },
    execution: { id, startedAt: startedAt.toISOString() },
    event,
  };
}
