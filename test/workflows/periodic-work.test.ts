import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listPeriodicWork } from '../../db/operator/periodic-work.ts';
import { PERIODIC_KINDS, type PeriodicKind } from '../../rules/periodic-work.ts';
import type { RoundResult } from '../../workflows/periodic-round.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { connectOperator, type TestOperator } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let dns: DnsServer;
let service: TestService;
let operator: TestOperator;
beforeAll(async () => {
  dns = await startDnsServer();
  // A service that only captures email needs and shows no DNS records of a domain, so this service uses SMTP.
  service = await startTestService({
    DNS_SERVERS: dns.address,
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: 'smtp://127.0.0.1:1',
  });
  operator = await connectOperator(service);
});
afterAll(async () => {
  await operator?.close();
  await service?.close();
  await dns?.close();
});

const readState = async (kind: PeriodicKind) =>
  (await listPeriodicWork(service.db)).find((standing) => standing.kind === kind);

async function registerDomain(name: string): Promise<{ id: string; records: { name: string; value: string }[] }> {
  return (await service.call('POST', '/domains', { body: { domain: name } })).body;
}
function publishRecords({ records }: { records: { name: string; value: string }[] }): void {
  for (const { name, value } of records) if (value.startsWith('v=DKIM1')) dns.zones.set(name, { TXT: [value] });
}
const isVerified = async (id: string) => {
  const { body } = await service.call('GET', `/domains/project/${service.one.id}`);
  return body.find((domain: { id: string; verified: boolean }) => domain.id === id)?.verified === true;
};

it('each kind of periodic work has a schedule; the schedule for domains verifies a domain with published records', async () => {
  const scheduled = new Set<string>();
  for await (const { scheduleId } of operator.client.schedule.list()) scheduled.add(scheduleId);
  expect([...scheduled].sort()).toEqual(PERIODIC_KINDS.map((kind) => service.names.schedule(kind)).sort());
  const domain = await registerDomain('scheduled.example');
  publishRecords(domain);
  await operator.client.schedule.getHandle(service.names.schedule('domains')).trigger();
  await until(() => isVerified(domain.id), 'the verification');
});

it('other domains are checked while the DNS of one domain hangs', async () => {
  const hanging = await registerDomain('hangs.example');
  for (const { name } of hanging.records) dns.zones.set(name, 'silent');
  const other = await registerDomain('healthy.example');
  publishRecords(other);
  const round = operator.runRound('domains').then(() => 'ended');
  await until(() => isVerified(other.id), 'the verification of the domain whose DNS responds');
  const queryCount = dns.questions.filter((question) => question.includes('hangs.example')).length;
  expect(queryCount).toBeGreaterThan(0);
  expect(await Promise.race([round, 'still running'])).toBe('still running');
  await round;
});

it('segments of other projects are computed while the segment of one project hangs', async () => {
  const ids: string[] = [];
  for (const { secretKey } of [service.one, service.two]) {
    const body = {
      name: 'Tracked',
      trackMembership: true,
      condition: { operator: 'AND', conditions: [{ field: 'data.tag', operator: 'equals', value: 'a' }] },
    };
    ids.push((await service.call('POST', '/segments', { key: secretKey, body })).body.id);
  }
  const [hanging, other] = ids;
  const isComputed = async (id: string | undefined) =>
    (await sql`SELECT FROM segments WHERE id = ${id} AND computed_at IS NOT NULL`.execute(service.db)).rows.length ===
    1;
  let round: Promise<RoundResult> | undefined;
  await service.db.transaction().execute(async (trx) => {
    await sql`SELECT FROM segments WHERE id = ${hanging} FOR UPDATE`.execute(trx);
    round = operator.runRound('segments');
    await until(() => isComputed(other), 'the segment of the other project');
    expect(await isComputed(hanging)).toBe(false);
  });
  expect(await round).toEqual({ done: 2, unfinished: 0, failed: [] });
  expect(await isComputed(hanging)).toBe(true);
});

it('pruning deletes from the other tables when one fails, names the failed table, and recovery still runs', async () => {
  await sql`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'this table cannot be pruned'; END $$
  `.execute(service.db);
  await sql`CREATE TRIGGER refuse BEFORE DELETE ON login_failures FOR EACH ROW EXECUTE FUNCTION refuse()`.execute(
    service.db,
  );
  await sql`
    INSERT INTO login_failures (subject, failed_at) VALUES ('a', now() - interval '2 days')
  `.execute(service.db);
  await sql`
    INSERT INTO processes (id, kind, host, pid, version, build, started_at, seen_at)
    VALUES (gen_random_uuid(), 'worker', 'gone', 1, '1', '1', now(), now() - interval '2 days')
  `.execute(service.db);
  const [pruning, recovery] = await Promise.all([operator.runRound('pruning'), operator.runRound('recovery')]);
  expect(pruning).toMatchObject({ unfinished: 0, failed: ['login_failures'] });
  expect(recovery.failed).toEqual([]);
  expect((await sql`SELECT FROM processes WHERE host = 'gone'`.execute(service.db)).rows).toEqual([]);
  expect(await readState('pruning')).toMatchObject({
    failing: ['login_failures'],
    lastError: 'login_failures: this table cannot be pruned',
    isRunning: false,
    isLate: false,
  });
  expect(await readState('recovery')).toMatchObject({ endedAt: expect.any(Date), lastError: null, backlog: 0 });
  await sql`DROP TRIGGER refuse ON login_failures`.execute(service.db);
  expect(await operator.runRound('pruning')).toMatchObject({ failed: [] });
  expect(await readState('pruning')).toMatchObject({ failing: [] });
});

it('the statistics round stores the totals of past hours', async () => {
  await sql`UPDATE mail_hours_until SET hour = hour - 3`.execute(service.db);
  expect((await readState('statistics'))?.backlog).toBeGreaterThanOrEqual(2);
  expect(await operator.runRound('statistics')).toMatchObject({ done: 3, failed: [] });
  expect((await readState('statistics'))?.backlog).toBe(0);
});
