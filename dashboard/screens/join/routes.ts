import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';

/**
 * The page of an invitation, open to signed-out visitors. The invitation's token is the part of the URL after `#`.
 * Browsers do not send this part to servers.
 */
const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/join',
  component: lazyRouteComponent(() => import('./join.tsx'), 'Join'),
});

export const joinRoutes = [joinRoute] as const;
