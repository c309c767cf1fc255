import { createHash } from 'node:crypto';

/** The stored graph of a workflow. */
export interface VersionedGraph {
  entryStepId: string | null;
  steps: readonly { id: string; type: string; name: string; config: unknown; position: unknown }[];
  transitions: readonly { fromStepId: string; toStepId: string; branch: string | null }[];
}

/**
 * Returns the version of a graph: a hash of its stored form, with sealed secrets. Equal graphs have equal versions.
 * When a client saves a whole graph, it also sends the version that it has read and edited. The service then refuses to
 * overwrite a concurrent change.
 */
export function computeGraphVersion({ entryStepId, steps, transitions }: VersionedGraph): string {
  const graph = [
    entryStepId,
    steps.map(({ id, type, name, config, position }) => [id, type, name, config, position]),
    transitions.map(({ fromStepId, toStepId, branch }) => [fromStepId, toStepId, branch]).sort(),
  ];
  return createHash('sha256').update(JSON.stringify(graph)).digest('base64url').slice(0, VERSION_CHARS);
}

/** The length of a version: 132 bits, so that two different graphs of a workflow never have the same version. */
const VERSION_CHARS = 22;
