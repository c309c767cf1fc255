import type { Branch } from '../../rules/executions/steps/definition.ts';
import type { StepType } from '../../rules/executions/steps/registry.ts';
import { groupBy } from '../../rules/filters/group-by.ts';
import type { Db } from '../connection.ts';
import { prepared } from '../prepared.ts';

export interface GraphStep {
  id: string;
  type: StepType;
  name: string;
  config: Record<string, unknown>;
  templateId: string | null;
}

/** The current graph of a workflow. Executions read the graph again at each step. */
export interface Graph {
  steps: Map<string, GraphStep>;
  /** Maps a step id to its transitions, by branch. The branch `''` is the transition without a branch. */
  transitions: Map<string, Map<string, string>>;
  /** True if the graph has a cycle, so that an execution can enter a step twice. */
  circular: boolean;
}

interface GraphRow {
  steps: GraphStep[];
  edges: [from: string, to: string, branch: Branch | null][];
}

/** Returns the graphs of workflows, by workflow id. */
export async function loadGraphs(db: Db, p: { projectId: string; workflowIds: string[] }): Promise<Map<string, Graph>> {
  const { projectId, workflowIds } = p;
  const graphs = new Map<string, Graph>();
  for (const id of new Set(workflowIds)) graphs.set(id, await loadGraph(db, { projectId, workflowId: id }));
  return graphs;
}

/**
 * Returns the graph of one workflow. `loadGraphs` calls this function for each workflow, because Postgres would plan a
 * statement with a list of workflows each time.
 */
export async function loadGraph(db: Db, p: { projectId: string; workflowId: string }): Promise<Graph> {
  const { rows } = await prepared<GraphRow>`
    SELECT
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'type', type, 'name', name, 'config', config,
          'templateId', template_id)), '[]')
        FROM workflow_steps WHERE project_id = ${p.projectId} AND workflow_id = ${p.workflowId}) AS steps,
      (SELECT coalesce(jsonb_agg(jsonb_build_array(from_step_id, to_step_id, branch)), '[]')
        FROM workflow_transitions WHERE project_id = ${p.projectId} AND workflow_id = ${p.workflowId}) AS edges
  `.execute(db);
  return toGraph(rows[0] ?? { steps: [], edges: [] });
}

function toGraph({ steps, edges }: GraphRow): Graph {
  const transitions: Graph['transitions'] = new Map();
  for (const [from, to, branch] of edges) {
    const branches = transitions.get(from) ?? new Map<string, string>();
    transitions.set(from, branches.set(branch ?? '', to));
  }
  return { steps: new Map(steps.map((step) => [step.id, step])), transitions, circular: isCircular(edges) };
}

/**
 * Tells whether the graph has a cycle. Repeatedly removes steps without incoming transitions. Steps that remain are in
 * a cycle, or come after one.
 */
function isCircular(edges: GraphRow['edges']): boolean {
  const leadingTo = new Map<string, number>();
  for (const [from, to] of edges) {
    leadingTo.set(from, leadingTo.get(from) ?? 0);
    leadingTo.set(to, (leadingTo.get(to) ?? 0) + 1);
  }
  const targets = groupBy(edges, ([from]) => from);
  const free = [...leadingTo].flatMap(([id, count]) => (count === 0 ? [id] : []));
  let left = leadingTo.size;
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    left -= 1;
    for (const [, to] of targets.get(id) ?? []) {
      const count = (leadingTo.get(to) ?? 0) - 1;
      leadingTo.set(to, count);
      if (count === 0) free.push(to);
    }
  }
  return left > 0;
}

/**
 * Returns the id of the next step. Follows the transition of the branch, or the transition without a branch if the
 * branch has none. Null if there is no transition.
 */
export function findNextStep(graph: Graph, stepId: string, branch?: Branch): string | null {
  const branches = graph.transitions.get(stepId);
  return (branch && branches?.get(branch)) || branches?.get('') || null;
}
