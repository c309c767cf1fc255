import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root-route.tsx';

/**
 * `back`: the path of the app to open afterwards. `new`: make an account. `link`: the link of `npm start` that led
 * here signed no one in.
 */
export interface SignInSearch {
  back?: string;
  link?: 'ended';
  new?: true;
}

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (given: Record<string, unknown>): SignInSearch => {
    const { back, link } = given;
    return {
      // A path of ours only: a link to this page must not lead to another site.
      ...(typeof back === 'string' && /^\/(?![/\\])/.test(back) && { back }),
      ...(link === 'ended' && { link }),
      ...(given.new === true && { new: true }),
    };
  },
  component: lazyRouteComponent(() => import('./sign-in.tsx'), 'SignIn'),
});

export const signInRoutes = [signInRoute] as const;
