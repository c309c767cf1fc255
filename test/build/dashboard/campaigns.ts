import { sql } from 'kysely';
import { saveContent } from '../../../db/contents/contents.ts';
import type { CampaignStatus } from '../../../rules/campaigns/campaign.ts';
import { NO_TEXT } from '../../../rules/content/email-text.ts';
import { createCampaignBody } from '../campaigns.ts';
import { expectOk } from '../workflows.ts';
import type { SeededContact } from './contacts.ts';
import { buildEmailEvents, createEmailHtml, SENDER } from './emails.ts';
import {
  pickEndedOutcome,
  pickHealthyOutcome,
  pickUsualOutcome,
  type SampleOutcome,
  toOutcomeColumns,
} from './outcomes.ts';
import { createIdAt, getTimeHoursAgo, HOUR_MS, type World } from './world.ts';

/** How long a test of variants takes, in milliseconds. */
const TEST_MS = HOUR_MS;

export type SeededCampaigns = Record<CampaignStatus | 'TESTED', string>;

/**
 * Builds a campaign in every status, and one that was sent with two variants. The recipients of started campaigns are
 * the contacts. Ended campaigns have recipients with every result and reason. No worker runs, so the campaign with the
 * status SENDING keeps it.
 */
export async function buildCampaigns(
  world: World,
  p: { contacts: readonly SeededContact[]; segmentId: string; topicId: string },
): Promise<SeededCampaigns> {
  const draft = createDraftBuilder(world);
  const ids: SeededCampaigns = {
    SENT: await draft('Autumn teas', 0, { topicId: p.topicId }),
    TESTED: await draft('Smoked teas', 1, {
      variants: [
        { name: 'Statement', weight: 1 },
        { name: 'Question', subject: 'Have you tried smoked tea?', weight: 1 },
      ],
      test: { share: 0.5, metric: 'opens', waitMinutes: TEST_MS / 60_000, minimum: 1 },
    }),
    CANCELLED: await draft('Summer clearance', 2),
    PAUSED: await draft('First flush preorder', 3),
    SENDING: await draft('Advent calendar', 4),
    SCHEDULED: await draft('Christmas teas', 5, { audienceType: 'SEGMENT', segmentId: p.segmentId }),
    DRAFT: await draft('January newsletter', 0),
  };
  await startCampaign(world, ids.SENT, { status: 'SENT', startedAt: getTimeHoursAgo(50), contacts: p.contacts });
  await startCampaign(world, ids.TESTED, {
    status: 'SENT',
    startedAt: getTimeHoursAgo(30),
    contacts: p.contacts,
    variants: 2,
    outcome: (n, variant) => (variant === 1 ? pickHealthyOutcome(n, 0.33) : pickEndedOutcome(n)),
  });
  await startCampaign(world, ids.CANCELLED, {
    status: 'CANCELLED',
    startedAt: getTimeHoursAgo(90),
    contacts: p.contacts.slice(0, 60),
  });
  // The campaigns started long enough ago that no email is opened in the future.
  await startCampaign(world, ids.PAUSED, {
    status: 'PAUSED',
    startedAt: getTimeHoursAgo(14),
    contacts: p.contacts.slice(0, p.contacts.length / 2),
    over: false,
    outcome: (n) => (n < 0.3 * p.contacts.length ? pickUsualOutcome(n) : { status: 'PENDING' }),
  });
  await startCampaign(world, ids.SENDING, {
    status: 'SENDING',
    startedAt: getTimeHoursAgo(11),
    contacts: p.contacts,
    over: false,
    outcome: (n) => (n < 0.7 * p.contacts.length ? pickUsualOutcome(n) : { status: 'PENDING' }),
  });
  await scheduleCampaign(world, ids.SCHEDULED, 72);
  return ids;
}

/** Sent campaigns, newest first, each with the share of its recipients who opened it. */
const SENT_BEFORE: readonly (readonly [name: string, opened: number])[] = [
  ['Winter teas are in', 0.47],
  ['Oolong for beginners', 0.44],
  ['Five teas for rainy days', 0.42],
  ['How to steep white tea', 0.39],
  ['Harvest letter from Uji', 0.45],
  ['Back in stock: smoked chai', 0.41],
];

/**
 * Builds sent campaigns that nearly every contact received, a campaign that is being sent, and two scheduled campaigns.
 */
export async function buildHealthyCampaigns(world: World, contacts: readonly SeededContact[]): Promise<void> {
  const draft = createDraftBuilder(world);
  for (const [n, [words, opened]] of SENT_BEFORE.entries()) {
    const startedAt = getTimeHoursAgo(24 * (3 + n * 6));
    const pickOutcomeAt = (at: number) => pickHealthyOutcome(at, opened);
    await startCampaign(world, await draft(words, n), { status: 'SENT', startedAt, contacts, outcome: pickOutcomeAt });
  }
  const isLeft = (n: number) => n > 0.7 * contacts.length;
  await startCampaign(world, await draft('Advent calendar restock', 6), {
    status: 'SENDING',
    startedAt: getTimeHoursAgo(0.6),
    contacts,
    over: false,
    outcome: (n) => (isLeft(n) ? { status: 'PENDING' } : pickHealthyOutcome(n)),
  });
  await scheduleCampaign(world, await draft('Gift guide', 7), 20);
  await scheduleCampaign(world, await draft('Tea tasting in December', 8), 42);
}

/** Returns a function that creates a campaign's draft through the API and returns its id. */
function createDraftBuilder({ call, voice }: World) {
  return async (words: string, n: number, more: object = {}): Promise<string> => {
    const texts = {
      name: voice.say(words, n, 255),
      subject: voice.say(`${words} for {{firstName}}`, n, 900),
      description: voice.say('Planned with the shop team', n, 2_000),
      body: createEmailHtml(voice.say('Seven of them, from first flush to smoked.', n, 12_000)),
    };
    const created = await expectOk(
      call('POST', '/campaigns', { body: createCampaignBody({ ...texts, from: SENDER, ...more }) }),
    );
    return created.data.id;
  };
}

/** Schedules a campaign without a timer: no worker runs. */
async function scheduleCampaign({ db }: World, id: string, inHours: number): Promise<void> {
  const scheduled = { status: 'SCHEDULED' as const, scheduled_at: getTimeHoursAgo(-inHours) };
  await db.updateTable('campaigns').set(scheduled).where('id', '=', id).execute();
}

interface StartedCampaign {
  status: 'SENT' | 'CANCELLED' | 'PAUSED' | 'SENDING';
  startedAt: Date;
  contacts: readonly SeededContact[];
  /** True if no recipient is waiting. */
  over?: boolean;
  variants?: number;
  /** Returns the result of the nth recipient. By default, the first recipients have every result and reason. */
  outcome?: (n: number, variant: number | null) => SampleOutcome;
}

async function startCampaign(world: World, id: string, p: StartedCampaign): Promise<void> {
  const { db, projectId } = world;
  const { status, startedAt, over = true, variants = 0, outcome = pickEndedOutcome } = p;
  // Each campaign starts with another contact, so that a contact has different outcomes.
  const from = (Math.floor(startedAt.getTime() / HOUR_MS) * 31) % p.contacts.length;
  const contacts = [...p.contacts.slice(from), ...p.contacts.slice(0, from)];
  const campaign = await db
    .selectFrom('campaigns')
    .select(['subject', 'body', 'from_email', 'from_name'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const text = {
    ...NO_TEXT,
    subject: campaign.subject,
    body: campaign.body,
    from: campaign.from_email,
    fromName: campaign.from_name,
  };
  const content = { projectId, ...text, type: 'MARKETING' as const, templateId: null };
  const contentId = await saveContent(db, content);
  const otherId =
    variants > 1 ? await saveContent(db, { ...content, subject: 'Have you tried smoked tea?' }) : contentId;
  // A day after its start, a campaign has few opens. No open is in the future.
  const hours = (Date.now() - startedAt.getTime()) / HOUR_MS;
  const openMinutes = hours > 2 ? Math.min(22 * 60, 60 * hours - 70) : undefined;
  // A test sends each variant to a quarter of the recipients, and then the winner, the first variant, to the rest.
  const [tested, half] = [Math.ceil(contacts.length / 4), Math.ceil(contacts.length / 2)];
  const getVariant = (n: number) => (variants > 1 ? Number(n >= tested && n < half) : null);
  // The rest gets the winner after the test.
  const getSendingTime = (n: number) => startedAt.getTime() + n * 20 + (variants > 1 && n >= half ? TEST_MS : 0);
  const rows = contacts.map((contact, n) => {
    const at = new Date(getSendingTime(n));
    const variant = getVariant(n);
    return {
      ...toOutcomeColumns(outcome(n, variant), at, n, openMinutes),
      id: createIdAt(at),
      project_id: projectId,
      contact_id: contact.id,
      to_email: contact.email,
      created_at: at,
      content_id: variant === 1 ? otherId : contentId,
      campaign_id: id,
      source_type: 'CAMPAIGN' as const,
      variant,
    };
  });
  await db.insertInto('emails').values(rows).execute();
  await buildEmailEvents(world, rows);
  const clicks = rows.flatMap(({ id: emailId, clicks: of, machine_clicks, content_id }, n) =>
    of + machine_clicks === 0
      ? []
      : [
          {
            campaign_id: id,
            email_id: emailId,
            link: n % 3 === 0 ? 1 : 0,
            project_id: projectId,
            content_id,
            clicks: of,
            machine_clicks,
          },
        ],
  );
  if (clicks.length > 0) await db.insertInto('link_clicks').values(clicks).execute();
  const parts = variants > 1 ? [rows.slice(0, tested), rows.slice(tested, half), rows.slice(half)] : [rows];
  const chunks = parts.map((part, n) => ({
    campaign_id: id,
    seq: n + 1,
    project_id: projectId,
    first_id: part[0]?.id ?? '',
    last_id: part.at(-1)?.id ?? '',
    size: part.length,
    variant: part[0]?.variant ?? null,
    rest: n === 2,
    done_at: over ? startedAt : null,
  }));
  await db.insertInto('campaign_chunks').values(chunks).execute();
  await db
    .updateTable('campaigns')
    .set({
      status,
      started_at: startedAt,
      going_since: startedAt,
      send_no: 1,
      audience_done: true,
      content_id: contentId,
      ...(status === 'SENT' && { sent_at: new Date(startedAt.getTime() + 240_000 + (variants > 1 ? TEST_MS : 0)) }),
      ...(status === 'CANCELLED' && { cancelled_at: new Date(startedAt.getTime() + 60_000) }),
      ...(status === 'PAUSED' && { paused_reason: 'requested' as const, going_since: null }),
      ...(variants > 1 && {
        variant_content_ids: sql<string[]>`${[contentId, otherId]}::uuid[]`,
        winner: 0,
        winner_by: 'test' as const,
        test_ends_at: new Date(startedAt.getTime() + TEST_MS),
        winner_at: new Date(startedAt.getTime() + TEST_MS),
      }),
    })
    .where('id', '=', id)
    .execute();
}
