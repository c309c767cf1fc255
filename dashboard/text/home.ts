import type { ResponseOf } from '../api/client.ts';

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
    opened: 'First opens by humans. Automated opens are counted separately.',
    clicked: 'First clicks by people.',
    bounced: 'The mailbox refused it.',
    complained: 'The recipient called it spam.',
  },
  previous: (n: string) => `vs. ${n}`,
  change: { up: 'Up', down: 'Down', same: 'Unchanged' },
  changed: {
    points: (by: string) => `${by} points from the previous 30 days`,
    percent: (by: string) => `${by}% from the previous 30 days`,
  },
  compare: 'Compare to previous period',
  sentBefore: 'Sent, previous 30 days',
  byDay: (zone: string) => `Emails per day (${zone})`,
  asTable: 'As a table',
  day: 'Day',
  noMail: 'No email in the last 30 days',
  noMailWhy: 'Statistics appear after your first send.',
  attention: 'Needs attention',
  allWell: 'All clear.',
  kinds: {
    periodic_work_late: 'Periodic work is overdue',
    project_held: 'Sending is on hold',
    route_paused: 'Email waits: the mail server refuses it',
    domain_broken: 'The records of a domain are gone',
    campaign_paused: 'A campaign was paused by the service',
    outbox_late: 'Accepted work waits longer than it should',
    executions_failed: 'Executions failed in the last 7 days',
    endpoint_disabled: 'A webhook endpoint was disabled',
    endpoint_degraded: 'A webhook endpoint does not respond',
  } satisfies Record<Kind, string>,
  look: 'View',
  since: '·',
  running: 'Campaigns in progress',
  noneRunning: 'No campaign is sending.',
  progress: (done: string, total: string) => `${done} of ${total}`,
  opensAt: 'continues',
  upcoming: 'Next 48 hours',
  nothingComes: 'No campaign is scheduled, and no delay of an automation ends.',
  delays: 'Delays that end',
  campaigns: 'Scheduled campaigns',
  hourHas: (hour: string, delays: string, campaigns: number) =>
    `${hour}: ${delays} delays${campaigns > 0 ? `, ${campaigns} campaigns` : ''}`,
  hoursLabel: 'Ending delays and starting campaigns, by hour',
  checklist: 'First steps',
  checklistWhat: 'Steps complete automatically, here or via the API.',
  done: 'done',
  open: 'not yet',
  hide: 'Hide',
  items: {
    domain: {
      title: 'Verify a domain',
      what: 'Mail leaves in its name. Publish the DNS records, and it is checked every 5 minutes.',
    },
    contact: { title: 'Add a contact', what: 'By hand, from a CSV file, or by the API.' },
    template: { title: 'Write a template', what: 'Reusable content for automations and API sends.' },
    mail: { title: 'Send email', what: 'A single one, by the API or from a contact.' },
    event: {
      title: 'Track an event',
      what: 'Events from your product start automations and fill segments.',
    },
    automation: { title: 'Enable an automation', what: 'A welcome or a reminder that runs for each contact.' },
  } satisfies Record<Item, { title: string; what: string }>,
};
