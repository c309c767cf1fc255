import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ApiFailure, callApi } from '../../../api/client.ts';
import { useSession } from '../../../app/session.ts';
import { type GraphFaults, groupFaultsByStep, NO_FAULTS } from '../graph/faults.ts';
import { type Graph, toSavedGraph } from '../graph/graph.ts';

const DEBOUNCE_MS = 500;
/** Prefix of the query keys of checks. */
export const CHECK = 'checkGraph';

export interface GraphCheck extends GraphFaults {
  /** Whether the API would refuse to save the graph. */
  refused: boolean;
  isChecking: boolean;
}

/**
 * Asks the API to check the graph shortly after each change. The API knows the rules, and the check saves nothing. No
 * check is sent during a save. After the save, a check needs the new version, because the API refuses the old one as a
 * conflict.
 */
export function useCheck(
  p: { id: string; graph: Graph; version: string; updatedAt: string },
  { isSaving }: { isSaving: boolean },
): GraphCheck {
  const { can } = useSession();
  const [debounced] = useDebouncedValue(p, DEBOUNCE_MS, { leading: true });
  const { data, isFetching } = useQuery({
    queryKey: [CHECK, debounced.id, debounced.version, debounced.updatedAt, getGraphNumber(debounced.graph)],
    queryFn: ({ signal }) => checkGraph(debounced, signal),
    enabled: can('workflows:edit') && !isSaving && debounced.version === p.version,
    placeholderData: keepPreviousData,
    gcTime: 0,
    staleTime: 60_000,
  });
  return { ...(data ?? { ...NO_FAULTS, refused: false }), isChecking: isFetching || debounced.graph !== p.graph };
}

/**
 * Returns a number that identifies a graph, for use as a query key. With the graph itself as the key, each render would
 * serialize it.
 */
function getGraphNumber(graph: Graph): number {
  const existing = numbers.get(graph);
  if (existing !== undefined) return existing;
  lastNumber += 1;
  numbers.set(graph, lastNumber);
  return lastNumber;
}

const numbers = new WeakMap<Graph, number>();
let lastNumber = 0;

async function checkGraph(
  { id, graph, version }: { id: string; graph: Graph; version: string },
  signal: AbortSignal,
): Promise<GraphFaults & { refused: boolean }> {
  try {
    const body = { ...toSavedGraph(graph, version), dryRun: true };
    const { faults } = await callApi('saveWorkflowGraph', { params: { id }, body }, { signal });
    return { ...groupFaultsByStep(faults, graph), refused: false };
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    // After a 409 another user has saved a newer version. The editor itself shows this conflict.
    if (error.status === 409) return { ...NO_FAULTS, refused: false };
    if (error.code !== 'VALIDATION_ERROR') throw error;
    return { ...groupFaultsByStep(error.fields, graph), refused: true };
  }
}
