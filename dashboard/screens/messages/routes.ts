import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../app/root-route.tsx';
import { EMAIL_VIEWS, type EmailView, readEmailSearch, readSmsSearch } from './search.ts';

const messagesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages',
  validateSearch: readEmailSearch,
  component: lazyRouteComponent(() => import('./messages.tsx'), 'Messages'),
});

const smsListRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages/sms',
  validateSearch: readSmsSearch,
  component: lazyRouteComponent(() => import('./sms-list.tsx'), 'SmsList'),
});

const smsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages/sms/$id',
  staticData: { isRecord: true },
  component: lazyRouteComponent(() => import('./sms.tsx'), 'SmsPage'),
});

const emailRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages/$id',
  staticData: { isRecord: true },
  validateSearch: ({ view }: Record<string, unknown>): { view?: EmailView } =>
    EMAIL_VIEWS.includes(view as EmailView) ? { view: view as EmailView } : {},
  component: lazyRouteComponent(() => import('./email.tsx'), 'EmailPage'),
});

export const messagesRoutes = [messagesRoute, smsListRoute, smsRoute, emailRoute] as const;
