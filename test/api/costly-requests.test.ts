import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildEmail } from '../build/emails.ts';
import { startTestService, type TestService } from '../support/service.ts';

const MB = 1024 * 1024;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ PROJECT_CPU_MS_PER_SECOND: '0' });
});
afterAll(() => service.close());

async function post(path: string, body: string | FormData, key = service.one.secretKey) {
  const headers = {
    authorization: `Bearer ${key}`,
    ...(typeof body === 'string' && { 'content-type': 'application/json' }),
  };
  const response = await fetch(service.baseUrl + path, { method: 'POST', headers, body });
  const { error } = (await response.json()) as { error: { code: string; errors: unknown } };
  return { status: response.status, error };
}

const createEmailBody = (to: string, data: string) =>
  `{"to":${to},"from":"x@shop.example.com","subject":"S","body":"<p>b</p>","data":{"x":${data}}}`;

describe('a request that is costly because of its form', () => {
  it.each([
    ['36 MB of empty lists', createEmailBody('"a@example.com"', `[${'[],'.repeat(12 * MB)}[]]`)],
    ['empty recipients', createEmailBody(`[${'{},'.repeat(4 * MB)}{}]`, '1')],
    ['lists of the largest allowed size', createEmailBody('"a@example.com"', `[${'[],'.repeat(5 * MB - 100)}[]]`)],
  ])('is refused by its size or its number of values if it is an email of %s', async (_, body) => {
    const { status, error } = await post('/v1/send', body);
    expect([status, error.code]).toEqual(
      body.length > 16 * MB ? [413, 'PAYLOAD_TOO_LARGE'] : [422, 'VALIDATION_ERROR'],
    );
  });

  it('is refused by its size if it is an event of 1 MB with the public key', async () => {
    const body = `{"email":"a@example.com","event":"e","data":{"x":[${'[],'.repeat(MB / 3)}[]]}}`;
    expect(await post('/v1/track', body, service.one.publicKey)).toMatchObject({ status: 413 });
  });

  it('is refused by the number of columns if its CSV header has a million columns', async () => {
    const names = Array.from({ length: 5_000 }, (_, n) => `c${n}`).join(',');
    const form = new FormData();
    form.append('file', new File([`email${','.repeat(2 * MB)}${names}\na@example.com\n`], 'wide.csv'));
    const { status, error } = await post('/contacts/import', form);
    expect([status, error.errors]).toEqual([
      422,
      [{ field: 'file', code: 'too_big', message: 'A file can have at most 200 columns.' }],
    ]);
  });

  it('is served if it shows an untrusted email with half a megabyte of nested markup', async () => {
    const body = '<div>'.repeat(MB / 10);
    const id = await buildEmail(service.db, {
      projectId: service.one.id,
      sourceType: 'INBOUND',
      status: 'RECEIVED',
      body,
    });
    const response = await service.call('GET', `/v1/emails/${id}`);
    expect([response.status, response.body.data.body]).toEqual([200, body]);
  });
});
