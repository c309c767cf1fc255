import { createHash } from 'node:crypto';

/** What a graph is made of, as it is stored. */
export interface VersionedGraph {
  entryStepId: string | null;
  steps: readonly { id: string; type: string; name: string; config: unknown; position: unknown }[];
  transitions: readonly { fromStepId: string; toStepId: string; branch: string | null }[];
}

/**
 * Names what is drawn: two graphs have one version only where they are the same, by whichever way they were changed.
 * Whoever saves a whole graph says on which one it was drawn, so nobody's change is lost unseen. Made of stored
 * configs, whose secrets are sealed.
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
