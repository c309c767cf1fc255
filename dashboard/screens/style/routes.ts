import { createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router';
import { shellRoute } from '../../app/root-route.tsx';

/** Names of the machine itself, on which developers run the service. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

const styleRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/style',
  beforeLoad: () => {
    if (!LOOPBACK.has(window.location.hostname)) throw notFound();
  },
  component: lazyRouteComponent(() => import('./style.tsx'), 'StylePage'),
});

export const styleRoutes = [styleRoute] as const;
