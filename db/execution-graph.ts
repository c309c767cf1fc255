import { type Kysely, sql } from 'kysely';
import type { StepType } from '../domain/execution.ts';
import type { Database } from './schema.ts';

export interface GraphStep {
  id: string;
  type: StepType;
  name: string;
  config: Record<string, unknown>;
  templateId: string | null;
}

export type Branch = 'yes' | 'no' | 'event' | 'timeout';

/** A tenant's workflow as it is now: executions read it each time they come to a step. */
export interface Graph {
  steps: Map<string, GraphStep>;
  /** Step id → branch (`''` is the plain transition) → step id. */
  transitions: Map<string, Map<string, string>>;
}

/** Steps and transitions of a workflow. */
export async function loadGraph(db: Kysely<Database>, projectId: string, workflowId: string): Promise<Graph> {
  const steps = await sql<GraphStep>`
    SELECT id, type, name, config, template_id AS "templateId" FROM workflow_steps
    WHERE project_id = ${projectId} AND workflow_id = ${workflowId}
  `.execute(db);
  const edges = await sql<{ from: string; to: string; branch: Branch | null }>`
    SELECT from_step_id AS "from", to_step_id AS "to", branch FROM workflow_transitions
    WHERE project_id = ${projectId} AND workflow_id = ${workflowId}
  `.execute(db);
  const transitions: Graph['transitions'] = new Map();
  for (const { from, to, branch } of edges.rows) {
    const branches = transitions.get(from) ?? new Map<string, string>();
    transitions.set(from, branches.set(branch ?? '', to));
  }
  return { steps: new Map(steps.rows.map((step) => [step.id, step])), transitions };
}

/** Where a step leads: by its branch, or by the plain transition where the branch has none of its own; null is nowhere. */
export function follow(graph: Graph, stepId: string, branch?: Branch): string | null {
  const branches = graph.transitions.get(stepId);
  return (branch && branches?.get(branch)) || branches?.get('') || null;
}
