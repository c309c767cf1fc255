import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { InputOf } from '../../api/client.ts';
import { shellRoute } from '../../app/root-route.tsx';

/** Filters of a list of executions. */
export type ExecutionSearch = Pick<NonNullable<InputOf<'listExecutions'>['query']>, 'status' | 'contactId' | 'sandbox'>;

export const EXECUTION_STATUSES = [
  ...(['RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'] as const),
] satisfies ExecutionSearch['status'][];

const listRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages/executions/$workflowId',
  validateSearch: ({ status, contactId, sandbox }: Record<string, unknown>): ExecutionSearch => ({
    ...(EXECUTION_STATUSES.some((known) => known === status) && {
      status: status as (typeof EXECUTION_STATUSES)[number],
    }),
    ...(typeof contactId === 'string' && { contactId }),
    ...(typeof sandbox === 'boolean' && { sandbox }),
  }),
  component: lazyRouteComponent(() => import('./executions.tsx'), 'Executions'),
});

const executionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages/executions/$workflowId/$executionId',
  staticData: { isRecord: true },
  component: lazyRouteComponent(() => import('./execution.tsx'), 'ExecutionPage'),
});

export const executionsRoutes = [listRoute, executionRoute] as const;
