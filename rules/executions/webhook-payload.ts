import { interpolateJson } from '../content/interpolate.ts';
import type { Data } from '../filters/data-values.ts';
import type { Sourced } from '../strangers/provenance.ts';

/** What a WEBHOOK step sends: the body of its config, or who came here, by which workflow, and why. */
export function webhookPayload(
  { body }: { body?: unknown },
  p: {
    execution: {
      id: string;
      workflowId: string;
      workflowName: string;
      startedAt: Date;
      event: Record<string, unknown>;
    };
    contact: { email: string; subscribed: boolean; data: Data };
    variables: Sourced<Data>;
  },
): unknown {
  // The tenant's own endpoint gets values as they came, as it gets those of webhooks.
  if (body !== undefined) return interpolateJson(body, p.variables).value;
  const { email, subscribed, data } = p.contact;
  const { id, workflowId, workflowName, startedAt, event } = p.execution;
  return {
    contact: { email, subscribed, data },
    workflow: { id: workflowId, name: workflowName },
    execution: { id, startedAt: startedAt.toISOString() },
    event,
  };
}
