import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';

/** Open to signed-out visitors. The token is after `#`, which browsers do not send to servers. */
const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/join',
  component: lazyRouteComponent(() => import('./join.tsx'), 'Join'),
});

export const joinRoutes = [joinRoute] as const;
