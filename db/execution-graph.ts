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

interface GraphRow {
  id: string;
  steps: GraphStep[];
  edges: [from: string, to: string, branch: Branch | null][];
}

/** Steps and transitions of workflows, by the workflow's id. */
export async function loadGraphs(
  db: Kysely<Database>,
  projectId: string,
  workflowIds: string[],
): Promise<Map<string, Graph>> {
  if (workflowIds.length === 0) return new Map();
  const { rows } = await sql<GraphRow>`
    /* prepared */ SELECT w.id,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'type', s.type, 'name', s.name, 'config', s.config,
          'templateId', s.template_id)), '[]')
        FROM workflow_steps s WHERE s.project_id = ${projectId} AND s.workflow_id = w.id) AS steps,
      (SELECT coalesce(jsonb_agg(jsonb_build_array(t.from_step_id, t.to_step_id, t.branch)), '[]')
        FROM workflow_transitions t WHERE t.project_id = ${projectId} AND t.workflow_id = w.id) AS edges
    FROM unnest(${[...new Set(workflowIds)]}::uuid[]) AS w (id)
  `.execute(db);
  return new Map(rows.map((row) => [row.id, toGraph(row)]));
}

/** Steps and transitions of one workflow. */
export async function loadGraph(db: Kysely<Database>, projectId: string, workflowId: string): Promise<Graph> {
  const graphs = await loadGraphs(db, projectId, [workflowId]);
  return graphs.get(workflowId) ?? EMPTY;
}

export const EMPTY: Graph = { steps: new Map(), transitions: new Map() };

function toGraph({ steps, edges }: GraphRow): Graph {
  const transitions: Graph['transitions'] = new Map();
  for (const [from, to, branch] of edges) {
    const branches = transitions.get(from) ?? new Map<string, string>();
    transitions.set(from, branches.set(branch ?? '', to));
  }
  return { steps: new Map(steps.map((step) => [step.id, step])), transitions };
}

/** Where a step leads: by its branch, or by the plain transition where the branch has none of its own; null is nowhere. */
export function follow(graph: Graph, stepId: string, branch?: Branch): string | null {
  const branches = graph.transitions.get(stepId);
  return (branch && branches?.get(branch)) || branches?.get('') || null;
}
