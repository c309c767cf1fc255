import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../app/root-route.tsx';

export const TENANT_ORDERS = ['newest', 'mails', 'bounces', 'complaints'] as const;
export const SPANS = [1, 24, 168] as const;

export interface TenantsSearch {
  q?: string;
  held?: boolean;
  order?: (typeof TENANT_ORDERS)[number];
  /** Time span of the statistics and the order; a day by default. */
  over?: 'month';
}

const healthRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/operator',
  component: lazyRouteComponent(() => import('./health.tsx'), 'Health'),
});

const tenantsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/operator/projects',
  validateSearch: ({ q, held, order, over }: Record<string, unknown>): TenantsSearch => {
    const match = TENANT_ORDERS.find((name) => name === order && name !== 'newest');
    return {
      ...(typeof q === 'string' && q !== '' && { q }),
      ...(typeof held === 'boolean' && { held }),
      ...(match && { order: match }),
      ...(over === 'month' && { over }),
    };
  },
  component: lazyRouteComponent(() => import('./tenants.tsx'), 'Tenants'),
});

const tenantRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/operator/projects/$tenantId',
  staticData: { isRecord: true },
  component: lazyRouteComponent(() => import('./tenant.tsx'), 'TenantScreen'),
});

const providersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/operator/providers',
  validateSearch: ({ hours }: Record<string, unknown>): { hours?: (typeof SPANS)[number] } => {
    const match = SPANS.find((span) => span === hours && span !== 24);
    return match ? { hours: match } : {};
  },
  component: lazyRouteComponent(() => import('./providers.tsx'), 'Providers'),
});

export const operatorRoutes = [healthRoute, tenantsRoute, tenantRoute, providersRoute] as const;
