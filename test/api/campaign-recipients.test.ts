import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSentCampaign } from '../build/recipients.ts';
import { buildProject, startTestApi, type TestApi, type TestProject } from '../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

/** Builds a campaign of 12 recipients: three FAILED (one unsubscribed, two refused), one BOUNCED, the rest SENT. */
async function buildCampaign(): Promise<{
  id: string;
  project: TestProject;
  get: (query?: string, accept?: string) => ReturnType<TestApi['call']>;
}> {
  const project = await buildProject(api.db, 'Recipients');
  const id = await buildSentCampaign(api.db, {
    projectId: project.id,
    count: 12,
    status: `CASE WHEN n IN (1, 4, 7) THEN 'FAILED' WHEN n = 9 THEN 'BOUNCED' ELSE 'SENT' END`,
    reason: `CASE WHEN n = 1 THEN 'unsubscribed' WHEN n IN (4, 7) THEN 'provider_rejected' WHEN n = 9 THEN 'bounced:dead_mailbox' END`,
  });
  const get = (query = '', accept = 'application/json') =>
    api.call('GET', `/campaigns/${id}/recipients${query}`, { key: project.secretKey, headers: { accept } });
  return { id, project, get };
}

const listAddresses = ({ body }: { body: { data: { email: string | null }[] } }) => body.data.map(({ email }) => email);

describe('the recipients of a campaign', () => {
  it('are all listed newest first, each with its result', async () => {
    const { get } = await buildCampaign();
    const { status, body } = await get();
    expect(status).toBe(200);
    expect(body).toMatchObject({ total: 12, hasMore: false, cursor: null });
    expect(listAddresses({ body })).toEqual(Array.from({ length: 12 }, (_, n) => `p${11 - n}@to.test`));
    expect(Object.keys(body.data[0]).sort()).toEqual(
      'contactId email status reason error attempts variant emailId notBefore sentAt deliveredAt openedAt clickedAt bouncedAt unsubscribedAt'
        .split(' ')
        .sort(),
    );
    expect(body.data[10]).toMatchObject({
      email: 'p1@to.test',
      status: 'FAILED',
      reason: 'unsubscribed',
      sentAt: null,
    });
  });

  it.each([
    ['?status=SENT', [11, 10, 8, 6, 5, 3, 2, 0]],
    ['?status=FAILED', [7, 4, 1]],
    ['?status=FAILED,BOUNCED', [9, 7, 4, 1]],
    ['?status=DELIVERED', []],
    ['?status=PENDING,HELD', []],
    ['?reason=provider_rejected', [7, 4]],
    ['?reason=unsubscribed,bounced:dead_mailbox', [9, 1]],
    ['?status=BOUNCED&reason=unsubscribed', []],
    ['?search=P1', [11, 10, 1]],
    ['?search=p1%40TO.test&status=FAILED', [1]],
    ['?search=p1%40TO.test&status=SENT', []],
    ['?search=%25', []],
    ['?status=&reason=&search=', [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
  ])('with the filter %s are the recipients %j', async (query, found) => {
    const { get } = await buildCampaign();
    const response = await get(query);
    expect(response.status).toBe(200);
    expect(listAddresses(response)).toEqual(found.map((n) => `p${n}@to.test`));
    expect(response.body.total).toBe(found.length);
  });

  it.each(['', '&status=FAILED,BOUNCED', '&search=to.test'])(
    'are paged by cursor, without duplicates or gaps%s',
    async (filter) => {
      const { get } = await buildCampaign();
      const whole = listAddresses(await get(`?limit=100${filter}`));
      const paged: (string | null)[] = [];
      for (let cursor = ''; ; ) {
        const page = await get(`?limit=3${filter}${cursor}`);
        paged.push(...listAddresses(page));
        expect(page.body.hasMore).toBe(page.body.cursor !== null);
        if (!page.body.hasMore) break;
        cursor = `&cursor=${page.body.cursor}`;
      }
      expect(paged).toEqual(whole);
    },
  );

  it('are found by the start of their address in a large campaign', async () => {
    const project = await buildProject(api.db, 'Large');
    const id = await buildSentCampaign(api.db, {
      projectId: project.id,
      count: 20_100,
      status: `CASE WHEN n % 2 = 0 THEN 'SENT' WHEN n = 12345 THEN 'FAILED' ELSE 'OPENED' END`,
      reason: `CASE WHEN n = 12345 THEN 'unsubscribed' END`,
    });
    const changeAddress = (table: 'emails' | 'contacts', from: string, to: string) => {
      const column = sql.ref(table === 'emails' ? 'to_email' : 'email');
      return sql`UPDATE ${sql.table(table)} SET ${column} = ${to} WHERE project_id = ${project.id} AND ${column} = ${from}`.execute(
        api.db,
      );
    };
    await changeAddress('emails', 'p7@to.test', 'xp1234@to.test');
    await changeAddress('emails', 'p19000@to.test', 'xp1234@to.test');
    // The addresses of these contacts now differ from the addresses that their emails were sent to.
    await changeAddress('contacts', 'p12341@to.test', 'moved@to.test');
    await changeAddress('contacts', 'p9@to.test', 'p1234-new@to.test');
    const get = (query: string) => api.call('GET', `/campaigns/${id}/recipients?${query}`, { key: project.secretKey });
    const listByPages = async (query: string) => {
      const found: (string | null)[] = [];
      for (let cursor = '', more = true; more; ) {
        const { status, body } = await get(`${query}${cursor}`);
        expect(status).toBe(200);
        found.push(...listAddresses({ body }));
        more = body.hasMore;
        cursor = `&cursor=${body.cursor}`;
      }
      return found;
    };
    const toAddresses = (...numbers: number[]) => numbers.map((n) => `p${n}@to.test`);
    const begin = toAddresses(12340, 12342, 12343, 12344, 12345, 12346, 12347, 12348, 12349, 1234);
    const others = ['xp1234@to.test', ...toAddresses(12341), 'xp1234@to.test'];
    for (const limit of [1, 3, 10, 100]) {
      expect(await listByPages(`search=P1234&limit=${limit}`)).toEqual([...begin, ...others]);
    }
    expect(listAddresses(await get('search=p12345@to.test'))).toEqual(toAddresses(12345));
    expect(await listByPages('search=p1234&status=FAILED')).toEqual(toAddresses(12345));
    expect(await listByPages('search=1234@TO.test')).toEqual([
      'xp1234@to.test',
      ...toAddresses(11234, 1234),
      'xp1234@to.test',
    ]);
    expect(await listByPages('search=%25')).toEqual([]);
    const whole = await listByPages('search=p&limit=100');
    expect(new Set(whole).size).toBe(20_099);
    expect(whole).toHaveLength(20_100);
    expect((await get('search=p&cursor=x')).status).toBe(400);
  });

  it('are complete over several chunks, among other emails of the project', async () => {
    const project = await buildProject(api.db, 'Chunks');
    const buildLargeCampaign = () =>
      buildSentCampaign(api.db, {
        projectId: project.id,
        count: 12_000,
        status: `CASE WHEN n % 4000 = 7 THEN 'OPENED' ELSE 'SENT' END`,
      });
    const [id] = [await buildLargeCampaign(), await buildLargeCampaign()];
    const found: (string | null)[] = [];
    for (let cursor: string | null = null, first = true; first || cursor; first = false) {
      const query: string = `?status=OPENED${cursor ? `&cursor=${cursor}` : ''}`;
      const { body } = await api.call('GET', `/campaigns/${id}/recipients${query}`, { key: project.secretKey });
      found.push(...listAddresses({ body }));
      cursor = body.cursor;
    }
    expect(found).toEqual(['p8007@to.test', 'p4007@to.test', 'p7@to.test']);
  });

  it('keep the row of a deleted contact, without its address', async () => {
    const { id, project, get } = await buildCampaign();
    const { rows } = await sql<{
      id: string;
    }>`SELECT contact_id AS id FROM emails WHERE campaign_id = ${id} AND to_email = 'p3@to.test'`.execute(api.db);
    await api.call('DELETE', `/contacts/${rows[0]?.id}`, { key: project.secretKey });
    const { body } = await get();
    expect(body.data).toHaveLength(12);
    expect(body.data[8]).toMatchObject({ contactId: null, email: null, status: 'SENT' });
    expect((await get('?search=p3@')).body.data).toEqual([]);
  });

  it('are empty for a draft', async () => {
    const { id, get } = await buildCampaign();
    await sql`DELETE FROM campaign_chunks WHERE campaign_id = ${id}`.execute(api.db);
    expect((await get()).body).toEqual({ data: [], cursor: null, hasMore: false, total: 0 });
  });

  it.each(['?status=GONE', '?reason=because', '?limit=101', '?limit=0', '?cursor=x'])(
    'cannot be listed with %s, which returns 400',
    async (query) => {
      const { get } = await buildCampaign();
      const { status, body } = await get(query);
      expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    },
  );
});

describe('the CSV file of a campaign’s recipients', () => {
  async function downloadCsv(id: string, key: string, query = ''): Promise<string> {
    const response = await api.app.request(`/campaigns/${id}/recipients${query}`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/csv' },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/csv/);
    return response.text();
  }

  it('has all recipients that match the filters, whatever the limit, after a header line', async () => {
    const { id, project } = await buildCampaign();
    const [names, ...lines] = (await downloadCsv(id, project.secretKey, '?limit=2')).trimEnd().split('\r\n');
    expect(names).toBe(
      'contactId,email,status,reason,error,attempts,variant,emailId,notBefore,sentAt,deliveredAt,openedAt,clickedAt,bouncedAt,unsubscribedAt',
    );
    expect(lines.map((line) => line.split(',')[1])).toEqual(Array.from({ length: 12 }, (_, n) => `p${11 - n}@to.test`));
    expect(
      (await downloadCsv(id, project.secretKey, '?reason=provider_rejected')).trimEnd().split('\r\n'),
    ).toHaveLength(3);
  });

  it('contains no formula that a spreadsheet would run', async () => {
    const { id, project } = await buildCampaign();
    await sql`UPDATE emails SET error = '=HYPERLINK("http://evil.test")', to_email = '+x@to.test' WHERE campaign_id = ${id} AND to_email = 'p4@to.test'`.execute(
      api.db,
    );
    const text = await downloadCsv(id, project.secretKey);
    expect(text).toContain(`,'+x@to.test,FAILED,provider_rejected,"'=HYPERLINK(""http://evil.test"")",`);
  });

  it('is complete over many chunks', async () => {
    const project = await buildProject(api.db, 'CSV');
    const id = await buildSentCampaign(api.db, { projectId: project.id, count: 12_345 });
    const lines = (await downloadCsv(id, project.secretKey)).trimEnd().split('\r\n').slice(1);
    expect(new Set(lines.map((line) => line.split(',')[1])).size).toBe(12_345);
  });
});
