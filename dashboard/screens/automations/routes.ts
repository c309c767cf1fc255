import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../app/root-route.tsx';

const automationsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/automations',
  validateSearch: ({ search }: Record<string, unknown>): { search?: string } =>
    search !== undefined && search !== '' ? { search: String(search) } : {},
  component: lazyRouteComponent(() => import('./automations.tsx'), 'Automations'),
});

/** What is open beside the drawing. */
export interface AutomationSearch {
  /** The step whose panel is open. */
  step?: string;
  panel?: 'settings' | 'people' | 'automation' | 'try';
  view?: 'list';
  /** A sandbox run whose path is lit. */
  run?: string;
}

const PANELS = ['settings', 'people', 'automation', 'try'] as const;

const automationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/automations/$automationId',
  validateSearch: ({ step, panel, view, run }: Record<string, unknown>): AutomationSearch => ({
    ...(typeof step === 'string' && { step }),
    ...(PANELS.some((known) => known === panel) && { panel: panel as NonNullable<AutomationSearch['panel']> }),
    ...(view === 'list' && { view }),
    ...(typeof run === 'string' && { run }),
  }),
  component: lazyRouteComponent(() => import('./automation.tsx'), 'Automation'),
});

export const automationsRoutes = [automationsRoute, automationRoute] as const;
