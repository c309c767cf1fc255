import type { ResponseOf } from '../api/client.ts';

type Kind = ResponseOf<'listAttention'>['data'][number]['kind'];
type Item = ResponseOf<'getChecklist'>['items'][number]['key'];

/** Texts of the start page. */
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
    sent: 'The provider took it. Test mail is left out.',
    delivered: 'The mailbox took it, as far as the provider tells. A plain mail server does not.',
    opened: 'First opens by people. Machines that fetch pictures are counted apart.',
    clicked: 'First clicks by people.',
    bounced: 'The mailbox refused it.',
    complained: 'The recipient called it spam.',
  },
  ofSent: (share: string) => `${share} of those sent`,
  byDay: (zone: string) => `Mail by day, by the clocks of the project (${zone})`,
  asTable: 'As a table',
  day: 'Day',
  noMail: 'No mail in the last 30 days',
  noMailWhy: 'Its figures are shown here as soon as the first one has left.',
  attention: 'Needs somebody',
  allWell: 'Nothing needs anybody.',
  kinds: {
    periodic_work_late: 'Periodic work has not ended for three periods',
    project_held: 'Sending is on hold',
    route_paused: 'Email waits: the mail server refuses it',
    domain_broken: 'The records of a domain are gone',
    campaign_paused: 'A campaign was paused by the service',
    outbox_late: 'Accepted work waits longer than it should',
    executions_failed: 'Executions failed in the last 7 days',
    endpoint_disabled: 'A webhook endpoint was disabled',
    endpoint_degraded: 'A webhook endpoint does not answer',
  } satisfies Record<Kind, string>,
  look: 'Look',
  since: 'since',
  running: 'On their way',
  noneRunning: 'No campaign is going out.',
  progress: (done: string, total: string) => `${done} of ${total}`,
  opensAt: 'goes on',
  upcoming: 'What comes in the next 48 hours',
  nothingComes: 'No campaign is scheduled, and no delay of an automation ends.',
  delays: 'Delays that end',
  campaigns: 'Scheduled campaigns',
  hourHas: (hour: string, delays: string, campaigns: number) =>
    `${hour}: ${delays} delays${campaigns > 0 ? `, ${campaigns} campaigns` : ''}`,
  hoursLabel: 'Delays of automations that end, and campaigns that begin, by hour',
  checklist: 'First steps',
  checklistWhat: 'They tick themselves, whether you do them here or by the API.',
  done: 'done',
  open: 'not yet',
  hide: 'Hide',
  items: {
    domain: {
      title: 'Verify a domain',
      what: 'Mail leaves in its name. Publish the DNS records, and it is checked every 5 minutes.',
    },
    contact: { title: 'Add a contact', what: 'By hand, from a CSV file, or by the API.' },
    template: { title: 'Write a template', what: 'What mails of automations and of your program say.' },
    mail: { title: 'Send a mail', what: 'A single one, by the API or from a contact.' },
    event: {
      title: 'Track an event',
      what: 'What people do in your product: it starts automations and makes segments.',
    },
    automation: { title: 'Enable an automation', what: 'A welcome, a reminder: it runs by itself for each contact.' },
  } satisfies Record<Item, { title: string; what: string }>,
};
