import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { Condition } from '../../../packages/client/src/operations.generated.ts';
import { shellRoute } from '../../app/root-route.tsx';
import { isCondition } from '../../parts/condition-builder/is-condition.ts';

const TYPES = ['DYNAMIC', 'STATIC'] as const;
export const SEGMENT_TABS = ['members', 'condition', 'history', 'explain', 'usage'] as const;
export type SegmentTab = (typeof SEGMENT_TABS)[number];

interface ListSearch {
  q?: string;
  type?: (typeof TYPES)[number];
}

interface NewSearch extends Pick<ListSearch, 'type'> {
  /** The rules that the form shows first. */
  condition?: Condition;
}

export interface SegmentSearch {
  tab?: SegmentTab;
  /** Page of the members, from 1. */
  page?: number;
  /** Id of the contact to explain. */
  contact?: string;
}

const listRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/segments',
  validateSearch: ({ q, type }: Record<string, unknown>): ListSearch => ({
    ...(typeof q === 'string' && q !== '' && { q }),
    ...readType(type),
  }),
  component: lazyRouteComponent(() => import('./segments.tsx'), 'Segments'),
});

const newRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/segments/new',
  validateSearch: ({ type, condition }: Record<string, unknown>): NewSearch => ({
    ...readType(type),
    ...(isCondition(condition) && { condition }),
  }),
  component: lazyRouteComponent(() => import('./new-segment.tsx'), 'NewSegment'),
});

const segmentRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/segments/$segmentId',
  staticData: { isRecord: true },
  validateSearch: ({ tab, page, contact }: Record<string, unknown>): SegmentSearch => {
    const match = SEGMENT_TABS.find((name) => name === tab);
    return {
      ...(match && { tab: match }),
      ...(typeof page === 'number' && page > 1 && { page: Math.floor(page) }),
      ...(typeof contact === 'string' && { contact }),
    };
  },
  component: lazyRouteComponent(() => import('./segment.tsx'), 'SegmentScreen'),
});

export const segmentsRoutes = [listRoute, newRoute, segmentRoute] as const;

function readType(value: unknown): Pick<ListSearch, 'type'> {
  const type = TYPES.find((name) => name === value);
  return type ? { type } : {};
}
