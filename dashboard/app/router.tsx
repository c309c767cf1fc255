import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { Loading } from '../parts/loading.tsx';
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
import { templatesRoutes } from '../screens/templates/routes.ts';
import { rootRoute, shellRoute } from './root-route.tsx';
import { ScreenFailed } from './screen-failed.tsx';
import { followTrail } from './trail.ts';

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
  ]),
]);

/**
 * The routes of the app, under `/app`; a screen's code is loaded when its route is opened or its link is pointed at.
 */
export function createAppRouter(queries: QueryClient) {
  const router = createRouter({
    routeTree,
    basepath: '/app',
    context: { queries },
    defaultPreload: 'intent',
    // Query keeps what was read; the router keeps nothing besides.
    defaultPreloadStaleTime: 0,
    defaultPendingComponent: Loading,
    defaultErrorComponent: ScreenFailed,
    scrollRestoration: true,
  });
  followTrail(router.history);
  return router;
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
