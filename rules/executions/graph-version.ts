import { createHash } from 'node:crypto';

/** A stored graph. */
export interface VersionedGraph {
  entryStepId: string | null;
  steps: readonly { id: string; type: string; name: string; config: unknown; position: unknown }[];
  transitions: readonly { fromStepId: string; toStepId: string; branch: string | null }[];
}

/**
 * Returns the version of a graph. Equal graphs have equal versions. A client that saves a whole graph sends the version
 * that it edited, so that no concurrent change is overwritten. Computed from stored configs, whose secrets are sealed.
 */
export function graphVersion({ entryStepId, steps, transitions }: VersionedGraph): string {
  const drawn = [
    entryStepId,
    steps.map(({ id, type, name, config, position }) => [id, type, name, config, position]),
    transitions.map(({ fromStepId, toStepId, branch }) => [fromStepId, toStepId, branch]).sort(),
  ];
  return createHash('sha256').update(JSON.stringify(drawn)).digest('base64url').slice(0, VERSION_CHARS);
}

/** 132 bits, so that two graphs of a workflow never have the same version. */
const VERSION_CHARS = 22;
