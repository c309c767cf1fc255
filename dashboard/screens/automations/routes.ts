import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { InputOf } from '../../api/client.ts';
import { shellRoute } from '../../app/root-route.tsx';

const automationsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/automations',
  validateSearch: ({ search }: Record<string, unknown>): { search?: string } =>
    search !== undefined && search !== '' ? { search: String(search) } : {},
  component: lazyRouteComponent(() => import('./automations.tsx'), 'Automations'),
});

/** Results of a visit, in the order in which they are shown. */
export const VISIT_STATUSES = [...(['COMPLETED', 'SKIPPED', 'FAILED', 'CANCELLED'] as const)] satisfies NonNullable<
  InputOf<'listStepVisits'>['query']
>['status'][];
export type VisitStatus = (typeof VISIT_STATUSES)[number];

/** The query of an automation's URL: the view, the period of the counts, and the content of the panel. */
export interface AutomationSearch {
  /** The step whose panel is open. */
  step?: string;
  panel?: 'settings' | 'people' | 'visits' | 'automation' | 'try';
  /** Result of the visits that are listed. */
  visits?: VisitStatus;
  /** Branch by which the listed contacts left. */
  branch?: string;
  view?: 'list';
  /** Days that the counts of the steps cover; all time if absent. */
  days?: 7 | 30;
  /** A sandbox run whose path is highlighted. */
  run?: string;
}

const PANELS = ['settings', 'people', 'visits', 'automation', 'try'] as const;

const automationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/automations/$automationId',
  staticData: { isFullScreen: true },
  validateSearch: ({ step, panel, visits, branch, view, days, run }: Record<string, unknown>): AutomationSearch => ({
    ...(typeof step === 'string' && { step }),
    ...(PANELS.some((known) => known === panel) && { panel: panel as NonNullable<AutomationSearch['panel']> }),
    ...(VISIT_STATUSES.some((known) => known === visits) && { visits: visits as VisitStatus }),
    ...(typeof branch === 'string' && branch !== '' && { branch }),
    ...(view === 'list' && { view }),
    ...((days === 7 || days === 30) && { days }),
    ...(typeof run === 'string' && { run }),
  }),
  component: lazyRouteComponent(() => import('./automation.tsx'), 'Automation'),
});

export const automationsRoutes = [automationsRoute, automationRoute] as const;
