import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp } from '../../../api/http/app.ts';
import { buildDomain } from '../../build/senders.ts';
import { startTestApi, type TestApi, type TestProject } from '../../support/api.ts';

let api: TestApi;
let app: TestApi['app'];

beforeAll(async () => {
  api = await startTestApi();
  app = api.app;
  const limited = { monthly_email_limit: 1_000 };
  for (const project of [api.one, api.two]) {
    await api.db.updateTable('projects').set(limited).where('id', '=', project.id).execute();
  }
  await buildDomain(api.db, { projectId: api.one.id });
  await buildDomain(api.db, { projectId: api.two.id, domain: 'two.example.com' });
});
afterAll(() => api?.close());

let sent = 0;
async function send(project: TestProject): Promise<number> {
  const from = project === api.one ? 'hello@shop.example.com' : 'hello@two.example.com';
  const body = { to: `held${++sent}@example.com`, from, subject: 'Hi', body: '<p>Hi</p>' };
  const headers = { authorization: `Bearer ${project.secretKey}`, 'content-type': 'application/json' };
  return (await app.request('/v1/send', { method: 'POST', headers, body: JSON.stringify(body) })).status;
}

it("a lock on one tenant's row does not delay other tenants' sends, however many sends of that tenant wait for it", async () => {
  expect([await send(api.one), await send(api.two)]).toEqual([200, 200]);
  const held: Promise<number>[] = [];
  let released = false;
  const expectAfterRelease = (response: Promise<number>) =>
    held.push(response.finally(() => expect(released).toBe(true)));
  await api.db.transaction().execute(async (trx) => {
    await sql`SELECT * FROM monthly_usage WHERE project_id = ${api.one.id} FOR UPDATE`.execute(trx);
    for (let wave = 0; wave < 12; wave += 1) {
      expectAfterRelease(send(api.one));
      const others = [send(api.two), send(api.two), send(api.two)];
      expectAfterRelease(send(api.one));
      expect(await Promise.all(others)).toEqual([200, 200, 200]);
    }
    released = true;
  });
  expect(await Promise.all(held)).toEqual(held.map(() => 200));
  expect(await send(api.one)).toBe(200);
  const used = await sql<{ emails: number }>`
    SELECT emails FROM monthly_usage WHERE project_id = ${api.one.id}`.execute(api.db);
  expect(used.rows).toEqual([{ emails: 26 }]);
});

it("counting the emails of a month for a new limit delays no other project's sends", async () => {
  await api.db.deleteFrom('monthly_usage').execute();
  let responses: Promise<number>[] = [];
  await api.db.transaction().execute(async (trx) => {
    // The transaction that counts the first project's emails of the month waits for this uncommitted row.
    await sql`INSERT INTO monthly_usage (project_id, month, emails)
      VALUES (${api.one.id}, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 10)`.execute(trx);
    // A new app has not read the usage of the month yet, like a process that has just started.
    app = createApp(api.deps);
    responses = [send(api.one), send(api.one), send(api.one)];
    expect(await Promise.all([send(api.two), send(api.two)])).toEqual([200, 200]);
  });
  expect(await Promise.all(responses)).toEqual([200, 200, 200]);
});
