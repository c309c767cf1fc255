import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../app/root-route.tsx';

export const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export const SPANS = ['1', '7', '30'] as const;

export interface DeliveriesSearch {
  status?: (typeof DELIVERY_STATUSES)[number];
  /** Id of the delivery that is shown. */
  delivery?: string;
}

/** Filters of the request log, with the names of the API. */
export interface RequestsSearch {
  method?: (typeof METHODS)[number];
  route?: string;
  status?: string;
  errorCode?: string;
  keyId?: string;
  requestId?: string;
}

export interface EventsSearch {
  q?: string;
  /** Time span in days. */
  span?: (typeof SPANS)[number];
}

const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers',
  component: lazyRouteComponent(() => import('./keys.tsx'), 'Keys'),
});

const webhooksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers/webhooks',
  component: lazyRouteComponent(() => import('./webhooks.tsx'), 'Webhooks'),
});

const webhookRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers/webhooks/$endpointId',
  staticData: { isRecord: true },
  validateSearch: ({ status, delivery }: Record<string, unknown>): DeliveriesSearch => ({
    ...readChoice('status', DELIVERY_STATUSES, status),
    ...readText('delivery', delivery),
  }),
  component: lazyRouteComponent(() => import('./webhook.tsx'), 'Webhook'),
});

const eventsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers/events',
  validateSearch: ({ q, span }: Record<string, unknown>): EventsSearch => ({
    ...readText('q', q),
    ...readChoice('span', SPANS, String(span)),
  }),
  component: lazyRouteComponent(() => import('./events.tsx'), 'Events'),
});

const eventRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers/events/$eventName',
  staticData: { isRecord: true },
  component: lazyRouteComponent(() => import('./event.tsx'), 'EventScreen'),
});

const requestsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers/requests',
  validateSearch: (query: Record<string, unknown>): RequestsSearch => ({
    ...readChoice('method', METHODS, query.method),
    ...readText('route', query.route),
    ...readText('status', String(query.status ?? '')),
    ...readText('errorCode', query.errorCode),
    ...readText('keyId', query.keyId),
    ...readText('requestId', String(query.requestId ?? '')),
  }),
  component: lazyRouteComponent(() => import('./requests.tsx'), 'Requests'),
});

const requestRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/developers/requests/$requestId',
  staticData: { isRecord: true },
  component: lazyRouteComponent(() => import('./request.tsx'), 'RequestScreen'),
});

export const developersRoutes = [
  keysRoute,
  webhooksRoute,
  webhookRoute,
  eventsRoute,
  eventRoute,
  requestsRoute,
  requestRoute,
] as const;

function readText<Name extends string>(name: Name, value: unknown): { [Key in Name]?: string } {
  return typeof value === 'string' && value !== '' ? ({ [name]: value } as { [Key in Name]?: string }) : {};
}

function readChoice<Name extends string, Word extends string>(
  name: Name,
  words: readonly Word[],
  value: unknown,
): { [Key in Name]?: Word } {
  const match = words.find((word) => word === value);
  return match === undefined ? {} : ({ [name]: match } as { [Key in Name]?: Word });
}
