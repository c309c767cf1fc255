import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { automationsRoutes } from '../screens/automations/routes.ts';
import { campaignsRoutes } from '../screens/campaigns/routes.ts';
import { contactsRoutes } from '../screens/contacts/routes.ts';
import { developersRoutes } from '../screens/developers/routes.ts';
import { executionsRoutes } from '../screens/executions/routes.ts';
import { homeRoutes } from '../screens/home/routes.ts';
import { joinRoutes } from '../screens/join/routes.ts';
import { messagesRoutes } from '../screens/messages/routes.ts';
import { operatorRoutes } from '../screens/operator/routes.ts';
import { segmentsRoutes } from '../screens/segments/routes.ts';
import { settingsRoutes } from '../screens/settings/routes.ts';
import { signInRoutes } from '../screens/sign-in/routes.ts';
import { styleRoutes } from '../screens/style/routes.ts';
import { templatesRoutes } from '../screens/templates/routes.ts';
import { PendingScreen } from './pending-screen.tsx';
import { rootRoute, shellRoute } from './root-route.tsx';
import { ScreenFailed } from './screen-failed.tsx';
import { recordVisitedPaths } from './visited-paths.ts';

const routeTree = rootRoute.addChildren([
  ...signInRoutes,
  ...joinRoutes,
  shellRoute.addChildren([
    ...homeRoutes,
    ...contactsRoutes,
    ...segmentsRoutes,
    ...templatesRoutes,
    ...campaignsRoutes,
    ...automationsRoutes,
    ...messagesRoutes,
    ...executionsRoutes,
    ...developersRoutes,
    ...settingsRoutes,
    ...operatorRoutes,
    ...styleRoutes,
  ]),
]);

/**
 * Creates the router of the app, under `/app`. The code of a screen is loaded when its route is opened, or when a link
 * of the router to it is hovered, focused or touched.
 */
export function createAppRouter(queries: QueryClient) {
  const router = createRouter({
    routeTree,
    basepath: '/app',
    context: { queries },
    defaultPreload: 'intent',
    // TanStack Query caches the responses, so the router does not cache them again.
    defaultPreloadStaleTime: 0,
    defaultPendingComponent: PendingScreen,
    defaultErrorComponent: ScreenFailed,
    scrollRestoration: true,
  });
  recordVisitedPaths(router.history);
  return router;
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
