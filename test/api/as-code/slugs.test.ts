import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { up } from '../../../db/migrations/20261122T2152-as-code-slugs.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const KINDS = [
  ['templates', { subject: 's', body: '<p>b</p>', type: 'MARKETING' }],
  ['workflows', { eventName: 'signed-up' }],
] as const;

describe.each(KINDS)('the slug of %s', (kind, rest) => {
  const create = (body: object) => api.call('POST', `/${kind}`, { body: { ...rest, ...body } });
  const get = async (id: string) => (await api.call('GET', `/${kind}/${id}`)).body;

  it('is derived from the name, with a number if it is taken, and is the same in another project', async () => {
    const slugs = [];
    for (let i = 0; i < 3; i += 1) slugs.push((await create({ name: 'Grüße an alle' })).body.slug);
    expect(slugs).toEqual(['gruesse-an-alle', 'gruesse-an-alle-2', 'gruesse-an-alle-3']);
    const body = { ...rest, name: 'Grüße an alle' };
    const other = await api.call('POST', `/${kind}`, { body, key: api.two.secretKey });
    expect(other.body.slug).toBe('gruesse-an-alle');
  });

  it('stays when the name changes, and changes when a new slug is given', async () => {
    const { id, slug } = (await create({ name: 'First name' })).body;
    await api.call('PATCH', `/${kind}/${id}`, { body: { name: 'Another name' } });
    expect(await get(id)).toMatchObject({ name: 'Another name', slug });
    await api.call('PATCH', `/${kind}/${id}`, { body: { slug: 'chosen' } });
    expect(await get(id)).toMatchObject({ name: 'Another name', slug: 'chosen' });
  });

  it('is refused if another record has it or if its format is invalid', async () => {
    await create({ name: 'x', slug: 'taken' });
    expect(await create({ name: 'y', slug: 'taken' })).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT', details: { slug: 'taken' } } },
    });
    const { id } = (await create({ name: 'z' })).body;
    expect((await api.call('PATCH', `/${kind}/${id}`, { body: { slug: 'taken' } })).status).toBe(409);
    for (const slug of ['', 'Big', 'a--b', '-a', 'a b', 'ä', 'a'.repeat(201)]) {
      expect(await create({ name: 'z', slug })).toMatchObject({
        status: 422,
        body: { error: { errors: [{ field: 'slug' }] } },
      });
    }
  });

  it('is unique for each of many concurrent records', async () => {
    const created = await Promise.all(Array.from({ length: 8 }, () => create({ name: 'At once' })));
    expect(created.map(({ status }) => status)).toEqual(Array(8).fill(201));
    expect(new Set(created.map(({ body }) => body.slug)).size).toBe(8);
  });
});

it('a copy of a template has a slug of its own', async () => {
  const { id } = (await api.call('POST', '/templates', { body: { name: 'News', ...KINDS[0][1] } })).body;
  const copies = [
    await api.call('POST', `/templates/${id}/duplicate`),
    await api.call('POST', `/templates/${id}/duplicate`),
  ];
  expect(copies.map(({ body }) => body.slug)).toEqual(['news-copy', 'news-copy-2']);
});

it('the slug of a step is unique within its workflow', async () => {
  const { id } = (await api.call('POST', '/workflows', { body: { name: 'w' } })).body;
  const step = { type: 'EXIT', name: 'The end' };
  const created = [
    await api.call('POST', `/workflows/${id}/steps`, { body: step }),
    await api.call('POST', `/workflows/${id}/steps`, { body: step }),
  ];
  expect(created.map(({ body }) => body.slug)).toEqual(['the-end', 'the-end-2']);
});

it('a segment has a slug, which follows its name unless the slug was given', async () => {
  const filters = { operator: 'AND', conditions: [{ field: 'email', operator: 'exists' }] };
  const created = await api.call('POST', '/segments', { body: { name: 'Everybody', slug: 'all', filters } });
  expect(created).toMatchObject({ status: 201, body: { slug: 'all' } });
  const path = `/segments/${created.body.id}`;
  expect((await api.call('PATCH', path, { body: { description: 'd' } })).body.slug).toBe('all');
  expect((await api.call('PATCH', path, { body: { name: 'Whoever', slug: 'all' } })).body.slug).toBe('all');
  expect((await api.call('PATCH', path, { body: { name: 'Someone' } })).body.slug).toBe('someone');
});

it('the migration gives earlier records a slug; the oldest record of a name has no number', async () => {
  const slugs = await inTransaction(api.db, async (trx) => {
    for (const table of ['templates', 'workflows', 'workflow_steps']) {
      await sql`ALTER TABLE ${sql.table(table)} DROP COLUMN slug`.execute(trx);
    }
    await sql`
      INSERT INTO workflows (project_id, name) SELECT ${api.two.id}, 'Many of a name' FROM generate_series(1, 1100)
    `.execute(trx);
    await up(trx as unknown as Kysely<unknown>);
    const { rows } = await sql<{ slug: string }>`
      SELECT slug FROM workflows WHERE project_id = ${api.two.id} AND name = 'Many of a name' ORDER BY id
    `.execute(trx);
    return rows.map((row) => row.slug);
  });
  expect(slugs.slice(0, 2)).toEqual(['many-of-a-name', 'many-of-a-name-2']);
  expect(slugs.at(-1)).toBe('many-of-a-name-1100');
});
