import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

async function upload(content: string | Buffer | null, p: { path?: string; key?: string; field?: string } = {}) {
  const form = new FormData();
  if (content !== null) form.append(p.field ?? 'file', new File([content], 'contacts.csv', { type: 'text/csv' }));
  else form.append('other', 'x');
  const response = await api.app.request(p.path ?? '/contacts/import', {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${p.key ?? api.one.secretKey}` },
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

describe('an import', () => {
  it('is stored and queued with its file in one transaction, and starts in state waiting', async () => {
    api.dispatched.length = 0;
    const { status, body } = await upload('email,plan\na@x.com,pro\nb@x.com,free\n', { path: '/v1/contacts/import' });
    expect(status).toBe(202);
    expect(body).toEqual({ message: expect.any(String), jobId: expect.any(String) });
    expect(api.dispatched).toMatchObject([{ kind: 'job.start', refId: body.jobId, payload: { kind: 'import' } }]);
    expect((await api.call('GET', `/contacts/import/${body.jobId}`)).body).toMatchObject({
      id: body.jobId,
      kind: 'import',
      status: 'QUEUED',
      state: 'waiting',
      progress: 0,
      total: 2,
      processed: 0,
      result: { totalRows: 0, errors: [] },
      failedReason: null,
      startedAt: null,
      completedAt: null,
    });
  });

  it.each([
    ['no column named email', 'name\nAda\n'],
    ['no content', ''],
    ['Latin-1 text', Buffer.from('email,name\na@x.com,Ren\xe9\n', 'latin1')],
    ['the bytes of an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2])],
  ])('an import of a file with %s is refused at once', async (_, content) => {
    const { status, body } = await upload(content);
    expect(status).toBe(422);
    expect(body.error).toMatchObject({ code: 'VALIDATION_ERROR', errors: [{ field: 'file' }] });
  });

  it('needs a file, in a multipart form', async () => {
    expect((await upload(null)).body.error.errors).toContainEqual(expect.objectContaining({ field: 'file' }));
    const asJson = await api.call('POST', '/contacts/import', { body: { file: 'email' } });
    expect(asJson).toMatchObject({ status: 415, body: { error: { code: 'UNSUPPORTED_MEDIA_TYPE' } } });
  });

  it('over 5 MB is refused with 413', async () => {
    const row = `${'x'.repeat(60)}@example.com\n`;
    const rows = row.repeat(Math.ceil((5 * 1024 * 1024) / row.length));
    expect(await upload(`email\n${rows}`)).toMatchObject({
      status: 413,
      body: { error: { code: 'PAYLOAD_TOO_LARGE' } },
    });
    expect((await upload('x'.repeat(6 * 1024 * 1024))).status).toBe(413);
  });

  it('accepts only the value string for ?types', async () => {
    expect((await upload('email\na@x.com\n', { path: '/contacts/import?types=string' })).status).toBe(202);
    expect((await upload('email\na@x.com\n', { path: '/contacts/import?types=other' })).status).toBe(400);
  });
});

describe('a bulk job', () => {
  it.each(['bulk-subscribe', 'bulk-unsubscribe', 'bulk-delete'])('a %s job is queued', async (kind) => {
    const { status, body } = await api.call('POST', `/contacts/${kind}`, { body: { ids: ['x', 'x', 'y'] } });
    expect(status).toBe(202);
    expect((await api.call('GET', `/v1/contacts/bulk/${body.jobId}`)).body).toMatchObject({
      kind,
      state: 'waiting',
      total: 2,
      result: {
        operation: kind.slice('bulk-'.length),
        totalRequested: 2,
        successCount: 0,
        failureCount: 0,
        errors: [],
      },
    });
    expect((await api.call('GET', `/contacts/import/${body.jobId}`)).status).toBe(404);
  });

  it.each([{}, { contactIds: [] }, { contactIds: Array(1001).fill('x') }, { contactIds: [5] }, { contactIds: 'x' }])(
    'refuses invalid ids (case %#)',
    async (body) => {
      const response = await api.call('POST', '/contacts/bulk-delete', { body });
      expect(response.status).toBe(422);
      expect(response.body.error.errors[0].field).toMatch(/^contactIds/);
    },
  );
});

describe('a bulk job by condition', () => {
  const where = {
    search: 'bulk-where',
    condition: { logic: 'AND', groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }] },
  };

  it('is queued with the current number of matching contacts', async () => {
    for (const name of ['a', 'b']) await api.call('POST', '/contacts', { body: { email: `${name}@bulk-where.test` } });
    await api.call('POST', '/contacts', { body: { email: 'c@bulk-where.test', subscribed: false } });
    const { status, body } = await api.call('POST', '/contacts/bulk-unsubscribe', { body: { where } });
    expect(status).toBe(202);
    const job = (await api.call('GET', `/contacts/bulk/${body.jobId}`)).body;
    expect(job).toMatchObject({ state: 'waiting', total: 2, result: { totalRequested: 2 } });
    const ofOthers = { key: api.two.secretKey, body: { where } };
    const other = (await api.call('POST', '/contacts/bulk-unsubscribe', ofOthers)).body.jobId;
    expect((await api.call('GET', `/contacts/bulk/${other}`, { key: api.two.secretKey })).body.total).toBe(0);
  });

  it('selects every contact only with `all: true`', async () => {
    const startBulkUnsubscribe = (where: object) => api.call('POST', '/contacts/bulk-unsubscribe', { body: { where } });
    for (const empty of [{}, { search: '' }, { search: ' ' }]) {
      const { status, body } = await startBulkUnsubscribe(empty);
      expect([status, body.error.errors]).toEqual([
        422,
        [expect.objectContaining({ field: 'where', message: expect.stringContaining('all: true') })],
      ]);
    }
    expect((await startBulkUnsubscribe({ ...where, all: true })).body.error.errors[0].field).toBe('where.all');
    expect((await startBulkUnsubscribe({ all: false })).status).toBe(422);
    const queued = await startBulkUnsubscribe({ all: true });
    const { total } = (await api.call('GET', '/contacts?limit=1')).body;
    expect((await api.call('GET', `/contacts/bulk/${queued.body.jobId}`)).body.total).toBe(total);
  });

  it('refuses a condition together with ids, and an invalid condition', async () => {
    for (const body of [{ where, ids: ['x'] }, { where: { condition: { logic: 'XOR' } } }, { where: 'all' }]) {
      expect((await api.call('POST', '/contacts/bulk-delete', { body })).status).toBe(422);
    }
  });
});

it('jobs are listed newest first without their errors, either all jobs or only the running ones', async () => {
  const { body } = await api.call('GET', '/contacts/jobs?limit=2');
  expect(body).toMatchObject({ hasMore: true, data: [{ status: 'QUEUED' }, { status: 'QUEUED' }] });
  expect(body.total).toBeGreaterThan(2);
  expect(body.data[0].result.errors).toBeUndefined();
  expect((await api.call('GET', '/contacts/jobs?active=false')).body.data).toEqual([]);
  const others = (await api.call('GET', '/contacts/jobs', { key: api.two.secretKey })).body.data;
  expect(others.every(({ id }: { id: string }) => !body.data.some((job: { id: string }) => job.id === id))).toBe(true);
});

describe('access to jobs', () => {
  it("does not find another project's job", async () => {
    const { jobId } = (await upload('email\na@x.com\n')).body;
    const bulk = (await api.call('POST', '/contacts/bulk-delete', { body: { contactIds: ['x'] } })).body.jobId;
    const key = api.two.secretKey;
    expect((await api.call('GET', `/contacts/import/${jobId}`, { key })).status).toBe(404);
    expect((await api.call('GET', `/contacts/bulk/${bulk}`, { key })).status).toBe(404);
  });

  it('needs contacts:edit to start a job', async () => {
    const { status, body } = await upload('email\na@x.com\n', { key: api.one.bareKey });
    expect(status).toBe(403);
    expect(body.error.details.requiredScope).toBe('contacts:edit');
  });
});
