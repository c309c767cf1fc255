import { createHash } from 'node:crypto';

/** A graph as it is stored. */
export interface VersionedGraph {
  entryStepId: string | null;
  steps: readonly { id: string; type: string; name: string; config: unknown; position: unknown }[];
  transitions: readonly { fromStepId: string; toStepId: string; branch: string | null }[];
}

/**
 * Returns the version of a graph: equal for equal graphs, by whatever edits they were made. A client that saves a
 * whole graph sends the version it edited, so that no other change is lost unseen. Computed from stored configs,
 * whose secrets are sealed.
 */
export function graphVersion({ entryStepId, steps, transitions }: VersionedGraph): string {
  const drawn = [
    entryStepId,
    steps.map(({ id, type, name, config, position }) => [id, type, name, config, position]),
    transitions.map(({ fromStepId, toStepId, branch }) => [fromStepId, toStepId, branch]).sort(),
  ];
  return createHash('sha256').update(JSON.stringify(drawn)).digest('base64url').slice(0, VERSION_CHARS);
}

/** 132 bits: no two graphs of a workflow ever share one. */
const VERSION_CHARS = 22;
