import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { Condition } from '../../../packages/client/src/operations.generated.ts';
import { shellRoute } from '../../app/root-route.tsx';
import { isCondition } from '../../parts/condition-builder/is-condition.ts';

/** The query of the list's URL: part of an address or name, a condition of the filter language, and the order. */
export interface ListSearch {
  search?: string;
  condition?: Condition;
  /** Newest first if absent. */
  sort?: ListSort;
}

/** The API's orders of contacts, except its default. */
const SORTS = ['createdAt', 'email', '-email'] as const;
export type ListSort = (typeof SORTS)[number];

const listRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/contacts',
  validateSearch: ({ search, condition, sort }: Record<string, unknown>): ListSearch => ({
    // The router parses a typed number as a number.
    ...(((typeof search === 'string' && search !== '') || typeof search === 'number') && { search: String(search) }),
    ...(isCondition(condition) && { condition }),
    ...(SORTS.includes(sort as ListSort) && { sort: sort as ListSort }),
  }),
  component: lazyRouteComponent(() => import('./contacts.tsx'), 'Contacts'),
});

const importRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/contacts/import',
  component: lazyRouteComponent(() => import('./import/import.tsx'), 'ImportContacts'),
});

const jobsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/contacts/jobs',
  component: lazyRouteComponent(() => import('./jobs/jobs.tsx'), 'Jobs'),
});

const jobRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/contacts/jobs/$kind/$jobId',
  staticData: { isRecord: true },
  component: lazyRouteComponent(() => import('./jobs/job.tsx'), 'JobScreen'),
});

const contactRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/contacts/$contactId',
  staticData: { isRecord: true },
  component: lazyRouteComponent(() => import('./contact/contact.tsx'), 'ContactScreen'),
});

export const contactsRoutes = [listRoute, importRoute, jobsRoute, jobRoute, contactRoute] as const;
