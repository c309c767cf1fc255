import { setTimeout as sleep } from 'node:timers/promises';
import type { DeliveryStatus } from '../../../db/schema/webhooks.ts';
import { generateSecretKey } from '../../../rules/access/api-keys.ts';
import { buildPerson } from '../../support/person.ts';
import { expectOk } from '../workflows.ts';
import { createIdAt, getDaysAgo, getTimeHoursAgo, pick, type World } from './world.ts';

/** The number of deliveries in a row that a degraded endpoint refused. */
const FAILURES = 12;

/** Builds webhook endpoints in every state with deliveries in every state. Returns their ids. */
export async function buildWebhooks({ db, projectId, call, voice }: World): Promise<string[]> {
  const endpoints = [
    // No email of the samples is one of its events, so that no real delivery fails, and it stays ACTIVE.
    {
      url: 'https://shop.example.com/hooks/tidings',
      about: 'Order desk',
      events: ['purchase', 'cart.updated'],
      sent: ['purchase', 'cart.updated'],
      set: {},
      newestHours: 0.1,
      hoursBetween: 1.5,
      getStatus: (at: number) => (at === 17 ? 'FAILED' : 'DELIVERED') as DeliveryStatus,
    },
    {
      url: 'https://crm.example.com/in',
      about: 'Customer database',
      events: ['*'],
      sent: ['email.open', 'purchase', 'email.bounce'],
      set: { status: 'DEGRADED' as const, failures_in_row: FAILURES, failing_since: getTimeHoursAgo(9) },
      newestHours: 0.1,
      hoursBetween: 0.7,
      // The endpoint has failed since its last success. Its deliveries are attempted again for days.
      getStatus: (at: number) => (at < FAILURES ? 'PENDING' : 'DELIVERED') as DeliveryStatus,
    },
    {
      url: 'https://gone.example.com/hook',
      about: 'Former agency',
      events: ['signup'],
      sent: ['signup'],
      set: { status: 'DISABLED' as const, disabled_reason: 'failing' },
      newestHours: 30 * 24,
      hoursBetween: 3,
      getStatus: () => 'FAILED' as DeliveryStatus,
    },
  ];
  const ids: string[] = [];
  for (const [n, { url, about, events, sent, set, newestHours, hoursBetween, getStatus }] of endpoints.entries()) {
    const hostileEvent = voice.event('signup', n).replaceAll('*', '');
    const body = {
      url,
      events: [...new Set([...events, ...(hostileEvent === 'signup' ? [] : [hostileEvent])])],
      description: voice.say(about, n, 500),
    };
    const { id } = await expectOk(call('POST', '/webhooks', { body }));
    ids.push(id);
    if (n > 0) await db.updateTable('webhook_endpoints').set(set).where('id', '=', id).execute();
    const rows = Array.from({ length: 40 }, (_, at) => {
      const created = getTimeHoursAgo(newestHours + at * hoursBetween);
      const status = getStatus(at);
      const refused = status === 'DELIVERED' ? null : voice.say('HTTP 503', at, 1_000);
      return {
        id: createIdAt(created),
        project_id: projectId,
        endpoint_id: id,
        event_id: createIdAt(created),
        status,
        created_at: created,
        event_name: voice.event(pick(sent, at), at),
        error: refused,
        payload: JSON.stringify({
          event: { total: at, note: voice.say('Please ring twice', at, 10_000) },
          contact: { email: 'ada@example.com', subscribed: true, data: {} },
        }),
        attempts: status === 'DELIVERED' ? 1 : 4,
        response_status: status === 'DELIVERED' ? 200 : 503,
        latency_ms: 20 + ((at * 53) % 400),
        response_body: voice.say(status === 'DELIVERED' ? '{"received":true}' : 'upstream is away', at, 1_000),
        next_attempt_at: status === 'PENDING' ? getTimeHoursAgo(-1) : null,
        completed_at: status === 'PENDING' ? null : created,
      };
    });
    await db.insertInto('webhook_deliveries').values(rows).execute();
  }
  return ids;
}

/** Builds keys (used, revoked, expired), users of every role, and their actions. */
export async function buildKeysAndUsers({ db, projectId, voice }: World): Promise<void> {
  const keys = [
    {
      name: 'Web shop',
      scopes: ['email:send', 'contacts:edit', 'events:edit'],
      created_at: getDaysAgo(120),
      last_used_at: getTimeHoursAgo(0.1),
    },
    {
      name: 'Reports',
      scopes: ['analytics:view'],
      created_at: getDaysAgo(100),
      last_used_at: getDaysAgo(29),
      expires_at: getDaysAgo(-40),
    },
    {
      name: 'Former agency',
      scopes: ['campaigns:send'],
      created_at: getDaysAgo(60),
      last_used_at: getDaysAgo(35),
      revoked_at: getDaysAgo(30),
    },
    {
      name: 'One-day export',
      scopes: ['contacts:view'],
      created_at: getTimeHoursAgo(27),
      last_used_at: getTimeHoursAgo(26),
      expires_at: getTimeHoursAgo(3),
    },
  ];
  const prefixes = new Map<string, string>();
  for (const [n, key] of keys.entries()) {
    const { hash, prefix } = generateSecretKey(n === 1 ? 'test' : 'live');
    prefixes.set(key.name, prefix);
    const row = {
      project_id: projectId,
      key_hash: hash,
      prefix,
      mode: n === 1 ? ('test' as const) : ('live' as const),
    };
    await db
      .insertInto('api_keys')
      .values({ ...row, ...key, name: voice.say(key.name, n, 100) })
      .execute();
  }
  // Accounts belong to the whole service, so each address contains the project's id to be unique.
  const domain = `tea-${projectId.slice(-4)}.example`;
  for (const [n, role] of (['OWNER', 'ADMIN', 'MEMBER'] as const).entries())
    await buildPerson(db, projectId, role, `${pick(['ines', 'noah', 'camille'], n)}@${domain}`);
  const people = await db.selectFrom('memberships').select('user_id').where('project_id', '=', projectId).execute();
  // The last of these users has left the project.
  const actors = [...people.map(({ user_id }) => user_id), createIdAt(getTimeHoursAgo(2_000))].map(
    (id) => `user:${id}`,
  );
  const describeKey = (name: string) => ({ name, prefix: prefixes.get(name) });
  const actions: { action: string; details: Record<string, unknown>; daysAgo: number }[] = [
    { daysAgo: 27 / 24, action: 'apikey.created', details: describeKey('One-day export') },
    { daysAgo: 8.9, action: 'project.released', details: {} },
    { daysAgo: 9, action: 'project.held', details: { reason: 'Wrong price in the newsletter' } },
    { daysAgo: 30, action: 'apikey.revoked', details: describeKey('Former agency') },
    { daysAgo: 34, action: 'project.updated', details: { tracking: 'ENABLED' } },
    { daysAgo: 48, action: 'project.released', details: {} },
    { daysAgo: 48.2, action: 'project.held', details: { reason: 'Broken link to the shop' } },
    { daysAgo: 60, action: 'apikey.created', details: describeKey('Former agency') },
    { daysAgo: 90, action: 'team.joined', details: { email: `camille@${domain}`, role: 'MEMBER' } },
    { daysAgo: 91, action: 'team.invited', details: { email: `camille@${domain}`, role: 'MEMBER', mailed: true } },
    { daysAgo: 100, action: 'sms_sender.created', details: { country: null, from: '+15005550006' } },
    { daysAgo: 100, action: 'apikey.created', details: describeKey('Reports') },
    { daysAgo: 120, action: 'apikey.created', details: describeKey('Web shop') },
    { daysAgo: 180, action: 'project.updated', details: { name: 'The Tea Shop' } },
  ];
  const rows = actions.map(({ action, details, daysAgo }, n) => {
    const at = getDaysAgo(daysAgo);
    const inVoice = Object.entries(details).map(([name, value]) => [
      name,
      typeof value === 'string' ? voice.say(value, n, 100) : value,
    ]);
    return {
      id: createIdAt(at),
      project_id: projectId,
      action,
      actor: pick(actors, n),
      target: createIdAt(at),
      ip: '192.0.2.17',
      details: JSON.stringify(Object.fromEntries(inVoice)),
      created_at: at,
    };
  });
  await db.insertInto('audit_log').values(rows).execute();
}

/** The log is written this long after a request, at the latest. */
const LOG_DELAY_MS = 500;

/**
 * Builds the log of requests: by keys, users and the public key; successful, refused and failed. Deletes the requests
 * of the builders. Returns the ids of its first three requests.
 */
export async function buildRequestLog(
  { db, projectId, voice }: World,
  made: { emails: string[]; events: string[] },
): Promise<string[]> {
  await sleep(LOG_DELAY_MS);
  await db.deleteFrom('requests').where('project_id', '=', projectId).execute();
  const key = await db
    .selectFrom('api_keys')
    .select('id')
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow();
  const kinds = [
    { method: 'POST', route: '/v1/send', status: 200, made: { emails: made.emails } },
    { method: 'POST', route: '/v1/track', status: 200, actor: 'public', made: { events: made.events } },
    { method: 'PATCH', route: '/contacts/{id}', status: 422, error_code: 'VALIDATION_ERROR' },
    { method: 'GET', route: '/contacts', status: 200 },
    { method: 'POST', route: '/campaigns', status: 201, actor: `user:${createIdAt(getTimeHoursAgo(1))}` },
    { method: 'POST', route: '/v1/send', status: 503, error_code: 'SERVICE_UNAVAILABLE' },
  ];
  const rows = Array.from({ length: 70 }, (_, n) => {
    const at = getTimeHoursAgo(n * 0.4 + 0.01);
    const { made: what, ...kind } = pick(kinds, n);
    return {
      actor: `key:${key.id}`,
      ...kind,
      id: createIdAt(at),
      project_id: projectId,
      created_at: at,
      ms: 3 + ((n * 17) % 90),
      // A caller may send any printable text as X-Request-Id.
      request_id: voice.say(createIdAt(at), n, 128).replaceAll(/[^\x20-\x7e]/g, '?'),
      made: what ? JSON.stringify(what) : null,
    };
  });
  await db.insertInto('requests').values(rows).execute();
  return rows.slice(0, 3).map(({ id }) => id);
}
