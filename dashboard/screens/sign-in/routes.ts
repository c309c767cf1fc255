import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';

/**
 * `back` is the path of the app to open afterwards. `new` opens the sign-up form. `link` is set if a sign-in link of
 * `npm start` was not accepted.
 */
export interface SignInSearch {
  back?: string;
  link?: 'ended';
  new?: true;
}

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (query: Record<string, unknown>): SignInSearch => {
    const { back, link } = query;
    return {
      // Only a path of the app is accepted: a link to this page must not redirect to another site.
      ...(typeof back === 'string' && /^\/(?![/\\])/.test(back) && { back }),
      ...(link === 'ended' && { link }),
      ...(query.new === true && { new: true }),
    };
  },
  component: lazyRouteComponent(() => import('./sign-in.tsx'), 'SignIn'),
});

export const signInRoutes = [signInRoute] as const;
