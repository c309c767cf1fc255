import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../../app/root-route.tsx';
import { MAIL_VIEWS, type MailView, readMailSearch, readSmsSearch } from './search.ts';

const messagesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages',
  validateSearch: readMailSearch,
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
  component: lazyRouteComponent(() => import('./sms.tsx'), 'SmsPage'),
});

const mailRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages/$id',
  validateSearch: ({ view }: Record<string, unknown>): { view?: MailView } =>
    MAIL_VIEWS.includes(view as MailView) ? { view: view as MailView } : {},
  component: lazyRouteComponent(() => import('./mail.tsx'), 'MailPage'),
});

export const messagesRoutes = [messagesRoute, smsListRoute, smsRoute, mailRoute] as const;
