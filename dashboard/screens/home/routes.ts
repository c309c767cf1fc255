import { createRoute } from '@tanstack/react-router';
import { queryFor } from '../../api/queries.ts';
import { shellRoute } from '../../app/root-route.tsx';
import { Home } from './home.tsx';
import { UPCOMING } from './upcoming-query.ts';

const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  // Loaded with the app, because most visits start here; its requests are sent before it is drawn.
  component: Home,
  loader: ({ context: { queries } }) => {
    void queries.prefetchQuery(queryFor('getMailOverview'));
    void queries.prefetchQuery(queryFor('listAttention'));
    void queries.prefetchQuery(UPCOMING);
  },
});

export const homeRoutes = [homeRoute] as const;
