import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { listQueryFor, queryFor } from '../../../api/queries.ts';
import type { StepCounts } from '../canvas/drawing.ts';

const EVERY_MS = 1_000;
/** A count of many days changes slowly. */
const RANGE_EVERY_MS = 10_000;
const DAY_MS = 86_400_000;

/**
 * Returns the counts of contacts at each step. With a number of days, the counts of contacts that left a step cover
 * these days, as soon as they are loaded. All contacts that are at a step now are counted.
 */
export function useCounts(id: string, days: number | undefined): StepCounts[] {
  const [openedAtMs] = useState(Date.now);
  const all = useQuery({ ...queryFor('getWorkflowStats', { params: { id } }), refetchInterval: EVERY_MS });
  const since = new Date(openedAtMs - (days ?? 0) * DAY_MS).toISOString();
  const recent = useQuery({
    ...listQueryFor('getWorkflowStats', { params: { id }, query: { since } }),
    enabled: days !== undefined,
    refetchInterval: RANGE_EVERY_MS,
  });
  const recentCounts = days === undefined ? undefined : recent.data?.steps;
  const allCounts = all.data?.steps;
  return useMemo(() => {
    if (!allCounts) return [];
    if (!recentCounts) return allCounts;
    return allCounts.map((step) => {
      const stepCounts = recentCounts.find(({ stepId }) => stepId === step.stepId);
      return stepCounts ? { ...stepCounts, waiting: step.waiting, running: step.running } : step;
    });
  }, [allCounts, recentCounts]);
}
