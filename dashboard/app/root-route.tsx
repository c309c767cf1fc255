import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute } from '@tanstack/react-router';
import { NotFound } from './not-found.tsx';
import { ScreenFailed } from './screen-failed.tsx';
import { Shell } from './shell.tsx';
import { requireSession } from './sign-in-gate.ts';

/** Context that every route gets. */
export interface RouterContext {
  queries: QueryClient;
}

export const rootRoute = createRootRouteWithContext<RouterContext>()({
  notFoundComponent: () => (
    <main>
      <NotFound />
    </main>
  ),
});

/**
 * Parent of every screen that requires a signed-in user. Other visitors are sent to the sign-in page, and return
 * afterwards.
 */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: ({ context, location }) => requireSession(context.queries, location.href),
  component: Shell,
  errorComponent: ScreenFailed,
  notFoundComponent: NotFound,
});
