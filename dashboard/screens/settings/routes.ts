import { createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router';
import { shellRoute } from '../../app/root-route.tsx';

export const SECTIONS = ['project', 'domains', 'topics', 'senders', 'suppressions', 'team', 'audit-log'] as const;
export type Section = (typeof SECTIONS)[number];

/** `email` is the search on the suppression list. */
interface SettingsSearch {
  email?: string;
}

const settingsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings.tsx'), 'Settings'),
});

const sectionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/settings/$section',
  validateSearch: ({ email }: Record<string, unknown>): SettingsSearch =>
    typeof email === 'string' && email !== '' ? { email } : {},
  beforeLoad: ({ params }) => {
    if (!SECTIONS.some((name) => name === params.section)) throw notFound();
  },
  component: lazyRouteComponent(() => import('./settings.tsx'), 'Settings'),
});

export const settingsRoutes = [settingsRoute, sectionRoute] as const;
