import type { JobKind, JobStatus } from '../../../rules/contacts/jobs.ts';
import { SUPPRESSION_REASONS } from '../../../rules/emails/reasons.ts';
import { expectOk } from '../workflows.ts';
import { createIdAt, getTimeHoursAgo, pick, type World } from './world.ts';

export interface SeededContact {
  id: string;
  email: string;
}

const FIRST = [
  'Ada',
  'Grace',
  'Alan',
  'Edsger',
  'Barbara',
  'Donald',
  'Radia',
  'Leslie',
  'Margaret',
  'Dennis',
  'Yukihiro',
];
const LAST = [
  'Lovelace',
  'Hopper',
  'Turing',
  'Dijkstra',
  'Liskov',
  'Knuth',
  'Perlman',
  'Lamport',
  'Hamilton',
  'Ritchie',
];
const CITIES = ['Berlin', 'São Paulo', 'Reykjavík', 'Kyoto', 'Nairobi'];
const PLANS = ['free', 'pro', 'team'];

/** The newest contact is older than every campaign and run, so that no contact received anything before it existed. */
const NEWEST_HOURS = 120;

/**
 * Builds contacts with data of every type, newest first. Some are unsubscribed, some have a pending confirmation, and
 * every eleventh has a phone number.
 */
export async function buildContacts(world: World, count: number): Promise<SeededContact[]> {
  const rows = Array.from({ length: count }, (_, n) => {
    const at = getTimeHoursAgo(n * 5 + NEWEST_HOURS);
    const [firstName, lastName] = [pick(FIRST, n), pick(LAST, Math.floor(n / 2))];
    return {
      id: createIdAt(at),
      project_id: world.projectId,
      email: world.voice.address(`${firstName}.${lastName}`.toLowerCase(), n),
      subscribed: n % 9 !== 4,
      was_unsubscribed: n % 9 === 4,
      pending: n % 40 === 13,
      sms_subscribed: n % 13 !== 6,
      data: JSON.stringify({ ...createContactData(n, firstName, lastName), ...world.voice.data(n) }),
      created_at: at,
      updated_at: getTimeHoursAgo(n),
    };
  });
  await world.db.insertInto('contacts').values(rows).execute();
  return rows.map(({ id, email }) => ({ id, email }));
}

function createContactData(n: number, firstName: string, lastName: string): Record<string, unknown> {
  return {
    firstName,
    lastName,
    plan: pick(PLANS, n),
    orders: n % 17,
    spent: Math.round(n * 1234.5) / 100,
    vip: n % 8 === 0,
    lastOrderAt: getTimeHoursAgo(n * 4 + 9).toISOString(),
    tags: n % 3 === 0 ? ['newsletter', 'berlin-meetup'] : [],
    address: { city: pick(CITIES, n), zip: String(10_000 + n) },
    timezone: pick(['Europe/Berlin', 'America/Sao_Paulo', 'Asia/Tokyo'], n),
    ...(n % 11 === 0 && { phone: `+4915112345${String(n).padStart(3, '0')}` }),
    ...(n % 6 === 5 && { referrer: null }),
  };
}

/** Builds segments of both types, topics, and an entry of the suppression list for each reason. */
export async function buildSegmentsAndTopics(world: World, contacts: readonly SeededContact[]) {
  const { call, voice } = world;
  const group = (field: string, operator: string, value: unknown) => ({
    logic: 'AND',
    groups: [{ filters: [{ field, operator, value }] }],
  });
  const segments = [
    {
      name: 'Big spenders',
      // About a quarter of the contacts.
      filters: group('data.spent', 'greaterThan', Math.round(contacts.length * 9.375)),
      trackMembership: true,
    },
    { name: 'On the pro plan', filters: group('data.plan', 'equals', 'pro') },
    { name: 'On enterprise', filters: group('data.plan', 'equals', 'enterprise') },
    { name: 'Beta testers', type: 'STATIC' },
  ];
  const segmentIds: string[] = [];
  for (const [n, segment] of segments.entries()) {
    const body = {
      ...segment,
      name: voice.say(segment.name, n, 100),
      description: voice.say('For the newsletter', n, 255),
    };
    segmentIds.push((await expectOk(call('POST', '/segments', { body }))).id);
  }
  await expectOk(call('POST', `/segments/${segmentIds[0]}/compute`));
  const emails = contacts.slice(0, 25).map(({ email }) => email);
  await expectOk(call('POST', `/segments/${segmentIds[3]}/members`, { body: { emails } }));
  const topicIds: string[] = [];
  for (const [n, words] of ['Product news', 'Offers'].entries()) {
    const body = { name: voice.say(words, n, 100), description: voice.say('Once a month', n, 500) };
    topicIds.push((await expectOk(call('POST', '/topics', { body }))).id);
  }
  for (const [n, reason] of SUPPRESSION_REASONS.entries()) {
    await expectOk(call('POST', '/suppressions', { body: { email: contacts[n * 3 + 5]?.email, reason } }));
  }
  return { segmentIds, topicIds };
}

/** Builds imports and bulk jobs: completed with refused rows, running, and failed. */
export async function buildJobs({ db, projectId, voice }: World): Promise<string[]> {
  const result = {
    totalRows: 1_200,
    successCount: 1_198,
    createdCount: 1_100,
    updatedCount: 98,
    failureCount: 2,
    errors: [
      {
        row: 17,
        email: voice.say('not-an-address', 0, 254),
        error: 'Must be an email address such as ada@example.com.',
      },
      { row: 912, email: 'ada@', error: 'Must be an email address such as ada@example.com.' },
    ],
  };
  const counts = { totalRows: 0, successCount: 0, createdCount: 0, updatedCount: 0, failureCount: 0, errors: [] };
  const changed = { operation: 'unsubscribe', totalRequested: 1_200, successCount: 1_200, failureCount: 0, errors: [] };
  const jobs: {
    kind: JobKind;
    status: JobStatus;
    hoursAgo: number;
    processed: number;
    result: object;
    failed_reason?: string;
  }[] = [
    { kind: 'import', status: 'COMPLETED', hoursAgo: 20, processed: 1_200, result },
    {
      kind: 'import',
      status: 'RUNNING',
      hoursAgo: 0.03,
      processed: 410,
      result: { ...counts, totalRows: 410, successCount: 410, createdCount: 410 },
    },
    {
      kind: 'import',
      status: 'FAILED',
      hoursAgo: 21,
      processed: 0,
      result: counts,
      failed_reason: voice.say('The first row has no column "email".', 0, 2_000),
    },
    { kind: 'bulk-unsubscribe', status: 'COMPLETED', hoursAgo: 70, processed: 1_200, result: changed },
  ];
  const rows = jobs.map(({ result: done, hoursAgo, ...job }) => {
    const at = getTimeHoursAgo(hoursAgo);
    const ended = job.status === 'RUNNING' ? null : getTimeHoursAgo(hoursAgo - 0.1);
    return {
      ...job,
      id: createIdAt(at),
      project_id: projectId,
      total: 1_200,
      created_at: at,
      started_at: at,
      completed_at: ended,
      result: JSON.stringify(done),
    };
  });
  await db.insertInto('jobs').values(rows).execute();
  return rows.map(({ id }) => id);
}
