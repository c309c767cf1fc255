import { afterAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../../rules/config.ts';
import { buildDomain } from '../../build/senders.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

const MB = 1024 * 1024;
const started: TestApi[] = [];
afterAll(() => Promise.all(started.map((api) => api.close())));

/** Returns a function that sends an email with files of the given sizes in MB and returns the API's response. */
async function createSender(env: Record<string, string>) {
  const api = await startTestApi(env);
  started.push(api);
  await buildDomain(api.db, { projectId: api.one.id });
  return (sizes: number[], body = '<p>b</p>') => {
    const attachments = sizes.map((size, i) => ({
      filename: `${i}.bin`,
      content: Buffer.alloc(size * MB, i).toString('base64'),
      contentType: 'application/octet-stream',
    }));
    const email = { to: 'a@example.com', from: 'x@shop.example.com', subject: 'S', body, attachments };
    return api.call('POST', '/v1/send', { body: email });
  };
}

describe('the size limit of a request, by default', async () => {
  const send = await createSender({});

  it('allows 10 MB of attachments, and one more byte returns 413 with the limit', async () => {
    expect((await send([10])).status).toBe(200);
    const { status, body } = await send([10, 1 / MB]);
    expect([status, body.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(body.error.details).toEqual({ bytes: 10 * MB + 1, maxBytes: 10 * MB });
  });

  it('allows 16 MB with attachments, and 3 MB besides the attachments', async () => {
    const large = await send([12.5]);
    expect([large.status, large.body.error.details]).toEqual([413, { maxBytes: 16 * MB }]);
    const longText = await send([1], 'x'.repeat(3 * MB));
    expect([longText.status, longText.body.error.details]).toEqual([413, { maxBytes: 3 * MB }]);
  });
});

describe('the size limit of a request, with ATTACHMENTS_MAX_MB', async () => {
  const send = await createSender({ ATTACHMENTS_MAX_MB: '28' });

  it('allows larger attachments and requests', async () => {
    expect((await send([28])).status).toBe(200);
    const { status, body } = await send([28, 1 / MB]);
    expect([status, body.error.details]).toEqual([413, { bytes: 28 * MB + 1, maxBytes: 28 * MB }]);
    expect((await send([29])).body.error.details.maxBytes).toBe(28 * MB);
    expect((await send([31])).body.error.details.maxBytes).toBe(40 * MB);
  });

  it('still allows no message larger than 40 MB', () => {
    const env = { DATABASE_URL: 'postgres://x', TEMPORAL_ADDRESS: 'x:1', SECRET_KEY: 'x'.repeat(16) };
    expect(() => parseConfig({ ...env, ATTACHMENTS_MAX_MB: '29' })).toThrow('ATTACHMENTS_MAX_MB must be');
    const { attachmentsMaxBytes } = parseConfig({ ...env, ATTACHMENTS_MAX_MB: '28' });
    // In base64, each 57 bytes of a file become a line of 76 characters and CRLF.
    expect((attachmentsMaxBytes / 57) * 78).toBeLessThan(39 * MB);
  });
});
