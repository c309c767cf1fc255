import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ASSETS_MAX_BYTES } from '../../db/assets/assets.ts';
import { buildApiKey, startTestApi, type TestApi } from '../support/api.ts';

const GIF = Buffer.from('R0lGODlhAgADAIAAAAAAAP///yH5BAEAAAAALAAAAAACAAMAAAICRF4AOw==', 'base64');
/** Returns a unique GIF: bytes after its end do not change the image. */
const newGif = (more: string | Buffer = crypto.randomUUID()) => Buffer.concat([GIF, Buffer.from(more)]);

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ PUBLIC_URL: 'https://mail.example.com' });
  await sql`
    INSERT INTO domains (project_id, domain, status, dkim_selector, dkim_private_key, dkim_public_key)
    VALUES (${api.one.id}, 'verified.example', 'VERIFIED', 's', 'x', 'x')`.execute(api.db);
});
afterAll(() => api.close());

async function upload(content: Buffer | string, p: { key?: string; name?: string; type?: string } = {}) {
  const form = new FormData();
  form.append('file', new File([content], p.name ?? 'header.gif', { type: p.type ?? 'image/gif' }));
  const headers = { authorization: `Bearer ${p.key ?? api.one.secretKey}` };
  const response = await api.app.request('/v1/assets', { method: 'POST', body: form, headers });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const fetchAsset = (url: string, headers: Record<string, string> = {}) =>
  api.app.request(new URL(url).pathname, { headers });
const listAssets = async (query = '') => (await api.call('GET', `/assets${query}`)).body;

describe('an image', () => {
  it('is stored with its size and address, and is served to anyone unchanged', async () => {
    const content = newGif();
    const { status, body } = await upload(content, { name: 'Logo & more.gif' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      filename: 'Logo & more.gif',
      contentType: 'image/gif',
      bytes: content.length,
      width: 2,
      height: 3,
      used: false,
      usedBy: { templates: 0, campaigns: 0, sent: false },
      url: `https://mail.example.com/assets/${body.hash}`,
    });
    const response = await fetchAsset(body.url);
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(content);
  });

  it('is immutable, is served with the type of its bytes, and can neither run scripts nor load resources', async () => {
    const { body } = await upload(newGif('<script>alert(1)</script>'), { name: 'x.html', type: 'text/html' });
    const { headers } = await fetchAsset(body.url);
    expect(headers.get('content-type')).toBe('image/gif');
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'; sandbox");
    const again = await fetchAsset(body.url, { 'if-none-match': headers.get('etag') ?? '' });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('is returned byte for byte if it is larger than a megabyte, also to two concurrent readers', async () => {
    const content = newGif(Buffer.from(Array.from({ length: 1_000_000 }, (_, at) => (at * 31) & 255)));
    const { body } = await upload(content);
    const hashServedImage = async () =>
      createHash('sha256')
        .update(Buffer.from(await (await fetchAsset(body.url)).arrayBuffer()))
        .digest('hex');
    const whole = createHash('sha256').update(content).digest('hex');
    expect(await Promise.all([hashServedImage(), hashServedImage()])).toEqual([whole, whole]);
  });

  it('keeps its first name if the same bytes are uploaded again', async () => {
    const content = newGif();
    const first = await upload(content, { name: 'a.gif' });
    expect(await upload(content, { name: 'b.gif' })).toEqual({ status: 200, body: first.body });
  });

  it('is stored once if it is uploaded many times concurrently', async () => {
    const content = newGif();
    const responses = await Promise.all(Array.from({ length: 5 }, () => upload(content)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201]);
    expect(new Set(responses.map(({ body }) => body.id)).size).toBe(1);
  });

  it.each([
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', 'image/svg+xml'],
    ['HTML that calls itself a PNG', '<!doctype html><script>alert(1)</script>', 'image/png'],
    ['empty', '', 'image/png'],
    ['a PDF', '%PDF-1.7', 'application/pdf'],
  ])('an upload is refused if it is %s', async (_, content, type) => {
    const { status, body } = await upload(content, { type });
    expect(status).toBe(422);
    expect(body.error).toMatchObject({ code: 'VALIDATION_ERROR', errors: [{ field: 'file', code: 'invalid_file' }] });
  });

  it('is refused above 5 MB, also if the whole request is too large', async () => {
    const large = newGif(Buffer.alloc(5 * 1024 * 1024));
    expect(await upload(large)).toMatchObject({ status: 413, body: { error: { code: 'PAYLOAD_TOO_LARGE' } } });
    expect((await upload(newGif(Buffer.alloc(7 * 1024 * 1024)))).status).toBe(413);
  });

  it('has a name that can be stored, or no name', async () => {
    expect((await upload(newGif(), { name: 'a\0b.gif' })).body.filename).toBeNull();
    expect((await upload(newGif(), { name: 'x'.repeat(500) })).body.filename).toHaveLength(200);
    expect((await upload(newGif(), { name: ' ' })).body.filename).toBeNull();
  });
});

describe('the images of a project', () => {
  it('are separate: the same bytes have another address in another project, which can neither see nor delete them', async () => {
    const content = newGif();
    const mine = (await upload(content)).body;
    const theirs = (await upload(content, { key: api.two.secretKey })).body;
    expect(theirs.hash).not.toBe(mine.hash);
    const { data } = (await api.call('GET', '/assets', { key: api.two.secretKey })).body;
    expect(data.map(({ id }: { id: string }) => id)).toEqual([theirs.id]);
    expect((await api.call('DELETE', `/assets/${mine.id}`, { key: api.two.secretKey })).status).toBe(404);
    expect((await api.call('DELETE', `/assets/${mine.id}?force=true`, { key: api.two.secretKey })).status).toBe(404);
    expect((await api.call('DELETE', `/assets/${theirs.id}`, { key: api.two.secretKey })).status).toBe(204);
    expect((await fetchAsset(mine.url)).status).toBe(200);
    expect((await fetchAsset(theirs.url)).status).toBe(404);
  });

  it('are listed newest first, by cursor, with their total size', async () => {
    const ids = [];
    for (let n = 0; n < 3; n += 1) ids.unshift((await upload(newGif())).body.id);
    const first = await listAssets('?limit=2');
    expect(first.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    expect(first).toMatchObject({ hasMore: true, maxBytes: ASSETS_MAX_BYTES });
    expect(first.total).toBeGreaterThanOrEqual(3);
    expect(first.bytes).toBeGreaterThan(1_000_000);
    expect((await listAssets(`?limit=2&cursor=${first.cursor}`)).data[0].id).toBe(ids[2]);
  });

  it('the images of a project have a limit of total size', async () => {
    const { body } = await upload(newGif(), { key: api.two.secretKey });
    await sql`UPDATE assets SET bytes = ${ASSETS_MAX_BYTES} WHERE id = ${body.id}`.execute(api.db);
    const response = await upload(newGif(), { key: api.two.secretKey });
    expect(response).toMatchObject({ status: 409, body: { error: { details: { maxBytes: ASSETS_MAX_BYTES } } } });
    expect((await upload(newGif())).status).toBe(201);
  });

  it('can be changed with the scope to edit templates, and listed with the scope to see templates', async () => {
    const key = await buildApiKey(api.db, api.one.id, ['templates:view']);
    expect((await api.call('GET', '/assets', { key })).status).toBe(200);
    expect((await upload(newGif(), { key })).body.error).toMatchObject({ code: 'FORBIDDEN' });
    const { body } = await upload(newGif());
    expect((await api.call('DELETE', `/assets/${body.id}`, { key })).status).toBe(403);
  });
});

describe('an image that is in use', () => {
  const createEmailWithImage = (url: string) => ({
    subject: 's',
    body: `<p>Hi</p><img src="${url}" width="2" alt="">`,
  });
  const createTemplate = (url: string) =>
    api.call('POST', '/templates', { body: { name: 't', type: 'TRANSACTIONAL', ...createEmailWithImage(url) } });
  const readUses = async (id: string) =>
    (await listAssets('?limit=100')).data.find((asset: { id: string }) => asset.id === id).usedBy;

  it('is marked as used, and is deleted only if the request forces it', async () => {
    const { id, url } = (await upload(newGif())).body;
    const used = (await createTemplate(url)).body;
    expect(await readUses(id)).toEqual({ templates: 1, campaigns: 0, sent: false });
    expect(await api.call('DELETE', `/assets/${id}`)).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT', details: { templates: 1, campaigns: 0, sent: false } } },
    });
    await api.call('PATCH', `/templates/${used.id}`, { body: { body: '<p>none</p>' } });
    expect(await readUses(id)).toEqual({ templates: 0, campaigns: 0, sent: false });
    await api.call('PATCH', `/templates/${used.id}`, { body: createEmailWithImage(url) });
    expect((await api.call('DELETE', `/assets/${id}?force=true`)).status).toBe(204);
  });

  it('may be used by a campaign, or only by one of its variants', async () => {
    const [a, b] = [(await upload(newGif())).body, (await upload(newGif())).body];
    const variants = [
      { name: 'A', weight: 1 },
      { name: 'B', weight: 1, body: createEmailWithImage(b.url).body },
    ];
    const from_email = 'x@verified.example';
    await sql`
      INSERT INTO campaigns (project_id, name, subject, body, from_email, audience_type, variants)
      VALUES (${api.one.id}, 'c', 's', ${createEmailWithImage(a.url).body}, ${from_email}, 'ALL', ${JSON.stringify(variants)}::jsonb)
    `.execute(api.db);
    expect(await readUses(a.id)).toEqual({ templates: 0, campaigns: 1, sent: false });
    expect(await readUses(b.id)).toEqual({ templates: 0, campaigns: 1, sent: false });
  });

  it('may be used by an accepted email, also if its template was deleted', async () => {
    const { id, url } = (await upload(newGif())).body;
    const used = (await createTemplate(url)).body;
    const body = { to: 'ada@example.com', template: used.id, from: 'hi@verified.example' };
    expect((await api.call('POST', '/v1/send', { body })).status).toBe(200);
    await api.call('DELETE', `/templates/${used.id}`);
    expect(await readUses(id)).toEqual({ templates: 0, campaigns: 0, sent: true });
    expect((await api.call('DELETE', `/assets/${id}`)).status).toBe(409);
  });

  it('is found by the filter for used images, and not by the filter for unused images', async () => {
    const [a, b] = [(await upload(newGif())).body, (await upload(newGif())).body];
    await createTemplate(a.url);
    const listIds = async (query: string) => (await listAssets(query)).data.map(({ id }: { id: string }) => id);
    expect(await listIds('?used=true&limit=100')).toContain(a.id);
    expect(await listIds('?used=true&limit=100')).not.toContain(b.id);
    expect(await listIds('?used=false&limit=100')).toContain(b.id);
    expect(await listIds('?used=false&limit=100')).not.toContain(a.id);
  });

  it('does not count as used if only another project uses it', async () => {
    const { id, url } = (await upload(newGif())).body;
    await api.call('POST', '/templates', {
      key: api.two.secretKey,
      body: { name: 't', type: 'TRANSACTIONAL', ...createEmailWithImage(url) },
    });
    expect(await readUses(id)).toEqual({ templates: 0, campaigns: 0, sent: false });
  });
});

it('an address without an image returns 404', async () => {
  for (const name of ['x', '../../etc/passwd', 'A'.repeat(64), '0'.repeat(64)]) {
    expect((await api.app.request(`/assets/${encodeURIComponent(name)}`)).status).toBe(404);
  }
});
