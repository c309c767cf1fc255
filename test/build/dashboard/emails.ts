import type { Insertable } from 'kysely';
import { saveContent } from '../../../db/contents/contents.ts';
import type { EmailsTable } from '../../../db/schema/emails.ts';
import type { EventsTable } from '../../../db/schema/events.ts';
import { NO_TEXT } from '../../../rules/content/email-text.ts';
import { expectOk } from '../workflows.ts';
import type { SeededContact } from './contacts.ts';
import { pickOutcome, toOutcomeColumns } from './outcomes.ts';
import { createIdAt, getTimeHoursAgo, pick, type World } from './world.ts';

/** The sender domain of a seeded project. */
export const SENDER = 'news@shop.example.com';

/** Returns an email like a shop's: a headline, a button, two links, and text in the given voice. */
export function createEmailHtml(
  words: string,
  { headline = 'The autumn teas are in', button = 'See the teas' } = {},
): string {
  return `<!doctype html><html><body style="margin:0;background:#f4f1ea"><div style="padding:32px 16px"><table width="100%" align="center" style="max-width:520px;font:15px/24px Helvetica,Arial,sans-serif;color:#33413a"><tr><td>
<p style="margin:0 0 24px;font-size:12px;letter-spacing:3px;color:#3d5a4c">THE TEA SHOP</p>
<h1 style="margin:0 0 16px;font-size:26px;line-height:34px;color:#2b4c3f">${headline}</h1>
<p style="margin:0 0 24px">Hello {{firstName ?? there}}. ${words}</p>
<p style="margin:0 0 24px"><a href="https://shop.example.com/teas?n={{orders}}" style="display:inline-block;border-radius:4px;background:#3d5a4c;color:#fff;padding:12px 20px;text-decoration:none">${button}</a></p>
<p style="margin:0 0 24px">You have ordered {{orders ?? a few}} times. <a href="https://shop.example.com/account" style="color:#3d5a4c">Your account</a></p>
<p style="margin:0;font-size:12px;color:#6b756f"><a href="{{unsubscribeUrl}}" style="color:#6b756f">Unsubscribe</a></p></td></tr></table></div></body></html>`;
}

/** Builds templates of both types. One has no sender, one has a topic, and one has an error in its Liquid. */
export async function buildTemplates({ call, voice }: World, topicId: string): Promise<string[]> {
  const templates = [
    {
      name: 'Welcome',
      type: 'TRANSACTIONAL',
      subject: 'Welcome, {{firstName}}',
      from: SENDER,
      fromName: 'The Tea Shop',
      description: 'First email of the welcome series',
      text: { words: 'Three teas to start with.', headline: 'Put the kettle on', button: 'See the teas' },
    },
    {
      name: 'Autumn news',
      type: 'MARKETING',
      subject: 'The autumn teas are in',
      from: SENDER,
      topicId,
      preheader: 'Seven new ones',
      description: 'Monthly newsletter',
      text: { words: 'Seven of them, from first flush to smoked.' },
    },
    {
      name: 'You left something behind',
      type: 'MARKETING',
      subject: 'Your basket, {{firstName}}',
      from: SENDER,
      description: 'Reminder in the welcome series',
      text: { words: 'Your basket is still here.', headline: 'Still thinking about it?', button: 'Open your basket' },
    },
    {
      name: 'Receipt',
      type: 'TRANSACTIONAL',
      subject: 'Your order {{orderId}}',
      from: SENDER,
      replyTo: 'help@shop.example.com',
      description: 'Sent by the shop after a purchase',
      text: { words: 'We pack it today.', headline: 'Thank you for your order', button: 'View your order' },
    },
    {
      name: 'Appointment reminder',
      type: 'TRANSACTIONAL',
      subject: 'Your tasting is tomorrow',
      description: 'Has no sender yet',
      text: { words: 'We look forward to it.', headline: 'See you tomorrow', button: 'Add to calendar' },
    },
  ];
  const ids: string[] = [];
  for (const [n, { text, ...template }] of templates.entries()) {
    const body = {
      ...template,
      name: voice.say(template.name, n, 200),
      description: voice.say(template.description, n, 1_000),
      body: createEmailHtml(voice.say(text.words, n, 12_000), text),
    };
    ids.push((await expectOk(call('POST', '/templates', { body }))).id);
  }
  return ids;
}

const SINGLE = [
  {
    subject: 'Your order is on its way',
    words: 'We packed it this morning. It should reach you on Friday.',
    headline: 'Your order is on its way',
    button: 'Track your parcel',
  },
  {
    subject: 'Reset your password',
    words: 'You asked for a new password. The link works for one hour.',
    headline: 'Choose a new password',
    button: 'Reset password',
  },
  {
    subject: 'A question about your order',
    words: 'One of your teas is sold out. Would you like another one?',
    headline: 'Which tea may we send?',
    button: 'Choose a tea',
  },
];
/** Only marketing emails are skipped for these reasons. */
const OF_MARKETING =
  /^(not_subscribed|unsubscribed|unconfirmed|frequency_capped|left_audience|too_late|suppressed:[uc])/;

/** The first contact that has unsubscribed. */
const UNSUBSCRIBED = 4;

/** Builds single emails with every status and reason, and the events of providers and recipients. Returns their ids. */
export async function buildEmails(world: World, contacts: readonly SeededContact[], count: number): Promise<string[]> {
  const { db, projectId, voice } = world;
  const store = async (type: 'MARKETING' | 'TRANSACTIONAL', n: number, subject: string, body: string) => {
    const text = { ...NO_TEXT, subject: voice.say(subject, n, 900), body, from: SENDER, fromName: 'The Tea Shop' };
    return saveContent(db, { projectId, ...text, type, templateId: null });
  };
  const contentIds: string[] = [];
  for (const [n, { subject, words, ...more }] of SINGLE.entries())
    contentIds.push(await store('TRANSACTIONAL', n, subject, createEmailHtml(voice.say(words, n, 12_000), more)));
  const newsId = await store(
    'MARKETING',
    1,
    'Seven autumn teas',
    createEmailHtml(voice.say('Seven of them.', 1, 12_000)),
  );
  const rows = Array.from({ length: count }, (_, n) => {
    const at = getTimeHoursAgo(n * 3 + 0.5);
    const outcome = pickOutcome(n, { over: n % 5 !== 0 });
    // An email is skipped as unsubscribed only for a contact that has unsubscribed.
    const contact = pick(contacts, outcome.reason === 'unsubscribed' ? UNSUBSCRIBED : n * 7);
    return {
      ...toOutcomeColumns(outcome, at, n),
      id: createIdAt(at),
      project_id: projectId,
      contact_id: contact.id,
      to_email: contact.email,
      created_at: at,
      content_id: OF_MARKETING.test(outcome.reason ?? '') ? newsId : pick(contentIds, n),
      source_type: 'TRANSACTIONAL' as const,
      mode: n % 12 === 11 ? ('test' as const) : ('live' as const),
      variables: JSON.stringify({ orderId: `A-${1000 + n}` }),
    };
  });
  await db.insertInto('emails').values(rows).execute();
  await buildEmailEvents(world, rows);
  return rows.map(({ id }) => id);
}

type MailRow = Pick<ReturnType<typeof toOutcomeColumns>, 'sent_at' | 'delivered_at' | 'opened_at' | 'clicked_at'> &
  Pick<ReturnType<typeof toOutcomeColumns>, 'bounced_at' | 'complained_at'> &
  Pick<Insertable<EmailsTable>, 'campaign_id' | 'source_type' | 'contact_id'> & { id: string };

/** Builds the events that the service records for the results of emails. */
export async function buildEmailEvents({ db, projectId, voice }: World, emails: readonly MailRow[]): Promise<void> {
  const events = emails.flatMap((email, n) => {
    const common = {
      subject: voice.say('Your order is on its way', n, 900),
      from: SENDER,
      fromName: 'The Tea Shop',
      messageId: `<${email.id}@shop>`,
      emailId: email.id,
      templateId: null,
      campaignId: email.campaign_id ?? null,
      sourceType: email.source_type,
    };
    const event = (name: string, at: Date | null, data: object | null): Insertable<EventsTable>[] =>
      at === null || at.getTime() > Date.now()
        ? []
        : [
            {
              id: createIdAt(at),
              project_id: projectId,
              contact_id: email.contact_id ?? null,
              email_id: email.id,
              name,
              created_at: at,
              data: data && JSON.stringify({ ...common, ...data }),
            },
          ];
    return [
      ...event('email.sent', email.sent_at, email.campaign_id ? null : {}),
      ...event('email.delivery', email.delivered_at, { deliveredAt: email.delivered_at }),
      ...event('email.open', email.opened_at, { openedAt: email.opened_at, opens: 1, isFirstOpen: true }),
      ...event('email.click', email.clicked_at, {
        link: 'https://shop.example.com/teas?n=3',
        clicks: 1,
        isFirstClick: true,
      }),
      ...event('email.bounce', email.bounced_at, { bounceType: 'Permanent', bouncedAt: email.bounced_at }),
      ...event('email.complaint', email.complained_at, { complainedAt: email.complained_at }),
    ];
  });
  for (let from = 0; from < events.length; from += 1_000)
    await db
      .insertInto('events')
      .values(events.slice(from, from + 1_000))
      .execute();
}

/**
 * Builds events that a shop tracks, over the last weeks, with data of every type. The executions have the events
 * `signup`, which is the first name.
 */
export async function buildTrackedEvents(
  { db, projectId, voice }: World,
  contacts: readonly SeededContact[],
  count: number,
) {
  const names = ['signup', 'purchase', 'cart.updated', 'page.viewed', 'support.asked'];
  const tracked = names.slice(1);
  const rows = Array.from({ length: count }, (_, n) => {
    const at = getTimeHoursAgo(n * 1.5 + 0.2);
    const data = {
      orderId: `A-${1000 + n}`,
      total: n * 1.5,
      items: [{ sku: 'tea-7', count: n % 4 }],
      gift: n % 2 === 0,
      note: voice.say('Please ring twice', n, 10_000),
    };
    return {
      id: createIdAt(at),
      project_id: projectId,
      contact_id: pick(contacts, n * 3).id,
      created_at: at,
      name: voice.event(pick(tracked, n), 1 + (n % tracked.length)),
      data: JSON.stringify(data),
    };
  });
  await db.insertInto('events').values(rows).execute();
  return { firstId: rows[0]?.id ?? '', names: names.map((name, n) => voice.event(name, n)) };
}

/** Builds SMS with every status that the dashboard shows differently. */
export async function buildSms({ db, projectId, voice }: World, contacts: readonly SeededContact[]): Promise<string[]> {
  const outcomes = [
    { status: 'DELIVERED' as const },
    { status: 'SENT' as const },
    { status: 'FAILED' as const, reason: 'sms_stopped' },
    { status: 'FAILED' as const, reason: 'provider_rejected', error: '30003 Unreachable destination handset' },
  ];
  const rows = outcomes.map((outcome, n) => {
    const at = getTimeHoursAgo(n * 9 + 1);
    return {
      ...outcome,
      id: createIdAt(at),
      project_id: projectId,
      contact_id: pick(contacts, n * 11).id,
      created_at: at,
      to_phone: `+491511234500${n}`,
      from_phone: '+15005550006',
      country: 'DE',
      encoding: 'GSM7' as const,
      segments: 1,
      body: voice.say('Your tea is at the door.', n, 1_500),
      sent_at: outcome.status === 'FAILED' ? null : at,
      delivered_at: outcome.status === 'DELIVERED' ? new Date(at.getTime() + 2_000) : null,
    };
  });
  await db.insertInto('sms_messages').values(rows).execute();
  return rows.map(({ id }) => id);
}
