import type { DashboardData } from './dashboard-data.ts';

/** A screen to check: a name for its screenshots, and its path. */
export interface Screen {
  name: string;
  path: string;
  /** True for screens of operators, whose accounts are in OPERATORS. */
  operator?: true;
  /** True if `npm run screens` stores the dark mode too. */
  keepsDark?: true;
}

/**
 * Every screen of the dashboard, with records in all states that look different. The test `screens.test.ts` fails if a
 * route of the app is missing here.
 */
export function listScreens(data: DashboardData): Screen[] {
  const { project, contacts, segmentIds, templateIds, campaigns, workflows, emailIds } = data;
  const { jobIds, webhookIds, requestIds, eventNames } = data;
  const { welcome, fresh, draft, executions } = workflows;
  const SETTINGS = ['project', 'domains', 'topics', 'senders', 'suppressions', 'team', 'audit-log'];
  return [
    { name: 'home', path: '/' },
    { name: 'contacts', path: '/contacts' },
    { name: 'contacts-import', path: '/contacts/import' },
    { name: 'contacts-jobs', path: '/contacts/jobs' },
    { name: 'contacts-job', path: `/contacts/jobs/import/${jobIds[0]}` },
    { name: 'contact', path: `/contacts/${contacts[7]?.id}` },
    { name: 'segments', path: '/segments' },
    { name: 'segments-new', path: '/segments/new' },
    { name: 'segment', path: `/segments/${segmentIds[0]}` },
    { name: 'segment-static', path: `/segments/${segmentIds[3]}` },
    { name: 'templates', path: '/templates' },
    { name: 'templates-pictures', path: '/templates/pictures' },
    { name: 'template', path: `/templates/${templateIds[1]}` },
    { name: 'campaigns', path: '/campaigns' },
    { name: 'campaigns-new', path: '/campaigns/new' },
    { name: 'campaign-sent', path: `/campaigns/${campaigns.SENT}` },
    { name: 'campaign-tested', path: `/campaigns/${campaigns.TESTED}` },
    { name: 'campaign-sending', path: `/campaigns/${campaigns.SENDING}` },
    { name: 'campaign-paused', path: `/campaigns/${campaigns.PAUSED}` },
    { name: 'campaign-edit', path: `/campaigns/${campaigns.DRAFT}/edit` },
    { name: 'campaign-recipients', path: `/campaigns/${campaigns.SENT}/recipients` },
    { name: 'automations', path: '/automations' },
    { name: 'automation', path: `/automations/${welcome.id}` },
    { name: 'automation-fresh', path: `/automations/${fresh}` },
    { name: 'automation-draft', path: `/automations/${draft}` },
    { name: 'executions', path: `/messages/executions/${welcome.id}` },
    { name: 'execution-waiting', path: `/messages/executions/${welcome.id}/${executions.WAITING}` },
    { name: 'execution-failed', path: `/messages/executions/${welcome.id}/${executions.FAILED}` },
    { name: 'messages', path: '/messages' },
    { name: 'message', path: `/messages/${emailIds[36]}` },
    { name: 'message-skipped', path: `/messages/${emailIds[1]}` },
    { name: 'messages-sms', path: '/messages/sms' },
    { name: 'sms', path: `/messages/sms/${data.smsIds[0]}` },
    { name: 'developers-keys', path: '/developers' },
    { name: 'developers-webhooks', path: '/developers/webhooks' },
    { name: 'developers-webhook', path: `/developers/webhooks/${webhookIds[1]}` },
    { name: 'developers-events', path: '/developers/events?span=30' },
    { name: 'developers-event', path: `/developers/events/${encodeURIComponent(String(eventNames[0]))}` },
    { name: 'developers-requests', path: '/developers/requests' },
    { name: 'developers-request', path: `/developers/requests/${requestIds[0]}` },
    { name: 'settings', path: '/settings' },
    ...SETTINGS.map((section) => ({ name: `settings-${section}`, path: `/settings/${section}` })),
    { name: 'style', path: '/style', keepsDark: true },
    { name: 'operator', path: '/operator', operator: true },
    { name: 'operator-projects', path: '/operator/projects', operator: true },
    { name: 'operator-project', path: `/operator/projects/${project.id}`, operator: true },
    { name: 'operator-providers', path: '/operator/providers?hours=168', operator: true },
  ];
}

/** Screens for signed-out visitors. */
export const OPEN_SCREENS: readonly Screen[] = [
  { name: 'sign-in', path: '/sign-in' },
  { name: 'join', path: '/join' },
];
