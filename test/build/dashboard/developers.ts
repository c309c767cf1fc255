import { generateSecretKey } from '../../../rules/access/api-keys.ts';
import { buildPerson } from '../../support/person.ts';
import { expectOk } from '../workflows.ts';
import { createIdAt, getTimeHoursAgo, pick, type World } from './world.ts';

/** Builds webhook endpoints in every state with deliveries in every state. Returns their ids. */
export async function buildWebhooks({ db, projectId, call, voice }: World): Promise<string[]> {
  const endpoints = [
    // No email of the samples is one of its events, so that no real delivery fails, and it stays ACTIVE.
    {
      url: 'https://shop.example.com/hooks/tidings',
      about: 'Order desk',
      events: ['purchase', 'cart.updated'],
      set: {},
    },
    {
      url: 'https://crm.example.com/in',
      about: 'Customer database',
      events: ['*'],
      set: { status: 'DEGRADED' as const, failures_in_row: 12, failing_since: getTimeHoursAgo(9) },
    },
    {
      url: 'https://gone.example.com/hook',
      about: 'Former agency',
      events: ['signup'],
      set: { status: 'DISABLED' as const, disabled_reason: 'failing' },
    },
  ];
  const ids: string[] = [];
  for (const [n, { url, about, events, set }] of endpoints.entries()) {
    const body = {
      url,
      events: [...new Set([...events, voice.event('signup', n).replaceAll('*', '')])],
      description: voice.say(about, n, 500),
    };
    const { id } = await expectOk(call('POST', '/webhooks', { body }));
    ids.push(id);
    if (n > 0) await db.updateTable('webhook_endpoints').set(set).where('id', '=', id).execute();
    const rows = Array.from({ length: 40 }, (_, at) => {
      const created = getTimeHoursAgo(at * 0.7 + 0.1);
      const status =
        n === 2 ? 'FAILED' : pick(['DELIVERED', 'DELIVERED', 'DELIVERED', 'FAILED', 'PENDING'] as const, at + n * 3);
      const refused = status === 'DELIVERED' ? null : voice.say('HTTP 503', at, 1_000);
      return {
        id: createIdAt(created),
        project_id: projectId,
        endpoint_id: id,
        event_id: createIdAt(created),
        status,
        created_at: created,
        event_name: voice.event(pick(['email.open', 'purchase', 'email.bounce'], at), at),
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
    { name: 'Web shop', scopes: ['email:send', 'contacts:edit', 'events:edit'], last_used_at: getTimeHoursAgo(0.1) },
    {
      name: 'Reports',
      scopes: ['analytics:view'],
      last_used_at: getTimeHoursAgo(700),
      expires_at: getTimeHoursAgo(-1_000),
    },
    { name: 'Former agency', scopes: ['campaigns:send'], revoked_at: getTimeHoursAgo(200) },
    { name: 'One-day export', scopes: ['contacts:view'], expires_at: getTimeHoursAgo(3) },
  ];
  for (const [n, key] of keys.entries()) {
    const { hash, prefix } = generateSecretKey(n === 1 ? 'test' : 'live');
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
  const key = { name: 'Web shop', prefix: 'sk_live_3f9a1c' };
  const actions = [
    { action: 'apikey.created', details: key },
    { action: 'apikey.revoked', details: { ...key, name: 'Former agency' } },
    { action: 'project.updated', details: { monthlyEmailLimit: 50_000 } },
    { action: 'project.held', details: { reason: 'Wrong price in the newsletter' } },
    { action: 'project.released', details: {} },
  ];
  const rows = Array.from({ length: 30 }, (_, n) => {
    const at = getTimeHoursAgo(n * 11 + 1);
    const { action, details } = pick(actions, n);
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

/**
 * Builds the log of requests: by keys, users and the public key; successful, refused and failed. Returns the ids of its
 * first three requests.
 */
export async function buildRequestLog(
  { db, projectId, voice }: World,
  made: { emails: string[]; events: string[] },
): Promise<string[]> {
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
