import type { ResponseOf } from '../api/client.ts';
import { pluralize } from './pluralize.ts';

type Kind = ResponseOf<'listAttention'>['data'][number]['kind'];
type Item = ResponseOf<'getChecklist'>['items'][number]['key'];

/** Text of the home page. */
export const home = {
  month: 'The last 30 days',
  figures: {
    sent: 'Sent',
    delivered: 'Delivered',
    opened: 'Opened',
    clicked: 'Clicked',
    bounced: 'Bounced',
    complained: 'Complained',
  },
  figureMeans: {
    sent: 'Accepted by the provider. Test emails are not counted.',
    delivered: {
      reported: 'Deliveries that the email provider reported.',
      sent_minus_bounced: 'Sent minus bounced. Your email provider does not report deliveries.',
    },
    opened: 'First opens by humans. Bot opens are excluded.',
    clicked: 'First clicks by humans. Bot clicks are excluded.',
    bounced: 'Refused by the recipient’s mail server.',
    complained: 'Marked as spam.',
  },
  previous: (n: string) => `vs. ${n}`,
  change: { up: 'Up', down: 'Down', same: 'Unchanged' },
  changed: {
    points: (by: string) => `${by} points from the previous 30 days`,
    percent: (by: string) => `${by}% from the previous 30 days`,
  },
  news: (direction: 'up' | 'down' | 'same', by: string) =>
    direction === 'same'
      ? 'Open rate is unchanged from the previous 30 days.'
      : `Open rate is ${direction} ${pluralize(Number(by), 'point', by)} from the previous 30 days.`,
  openRate: 'Open rate',
  compare: 'Compare to previous period',
  sentBefore: 'Sent, previous 30 days',
  byDay: (zone: string) => `Emails per day (${zone})`,
  day: 'Day',
  noEmail: 'No email in the last 30 days',
  noEmailWhy: 'Statistics appear after your first send.',
  attention: 'Needs attention',
  allClear: 'All clear',
  allClearMeans: 'Nothing in this project needs attention.',
  kinds: {
    periodic_work_late: 'Periodic work is overdue',
    project_held: 'Sending is paused',
    route_paused: 'Email is delayed: the mail server refuses it',
    domain_broken: 'DNS records missing',
    campaign_paused: 'Campaign paused automatically',
    outbox_late: 'Sending is delayed',
    executions_failed: 'Failed runs',
    endpoint_disabled: 'Webhook endpoint disabled',
    endpoint_degraded: 'Webhook endpoint failing',
  } satisfies Record<Kind, string>,
  failedRuns: (n: number, written: string) => `${pluralize(n, 'failed run', written)} in the last 7 days`,
  look: 'View',
  createCampaign: 'Create campaign',
  since: '·',
  running: 'Campaigns',
  viewAll: 'View all',
  noneRunning: 'No campaigns sent yet.',
  openedShare: (share: string) => `${share} opened`,
  progress: (done: string, total: string) => `${done} of ${total}`,
  opensAt: 'continues',
  upcoming: 'Next 48 hours',
  nothingScheduled: 'Nothing scheduled.',
  delays: 'Automation steps due',
  campaigns: 'Scheduled campaigns',
  hourHas: (hour: string, delays: number, written: string, campaigns: number) =>
    `${hour}: ${pluralize(delays, 'step', written)}${campaigns > 0 ? `, ${pluralize(campaigns, 'campaign')}` : ''}`,
  busiestHour: 'Busiest hour:',
  busiestSteps: (written: string) => `, with ${written} steps.`,
  waveAtRate: (rate: string, duration: string) => `Their emails take at least ${duration}, at ${rate} per second.`,
  hoursLabel: 'Automation steps that are due and campaigns that start, by hour',
  checklist: 'First steps',
  done: 'done',
  open: 'not yet',
  hide: 'Hide',
  showAll: 'Show all',
  showFewer: 'Show fewer',
  doneOf: (done: number, all: number) => `${done} of ${all} done`,
  next: 'Next:',
  actions: {
    domain: 'Add domain',
    contact: 'Add contacts',
    template: 'Create template',
    mail: 'Open emails',
    event: 'Open events',
    automation: 'Create automation',
  } satisfies Record<Item, string>,
  items: {
    domain: {
      title: 'Verify a domain',
      what: 'Add DNS records to send from your domain.',
    },
    contact: { title: 'Add a contact', what: 'Manually, from a CSV file, or with the API.' },
    template: { title: 'Create a template', what: 'Reusable content for automations and API sends.' },
    mail: { title: 'Send an email', what: 'Send one with the API or from a contact’s page.' },
    event: {
      title: 'Track an event',
      what: 'Events from your product start automations and fill segments.',
    },
    automation: { title: 'Enable an automation', what: 'Send each contact a welcome or a reminder.' },
  } satisfies Record<Item, { title: string; what: string }>,
};
