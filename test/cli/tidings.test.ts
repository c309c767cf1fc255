import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';
import { buildApiKey, startTestApi, type TestApi } from '../support/api.ts';
import { buildResources, buildVerifiedDomain } from '../support/as-code.ts';

let api: TestApi;
let server: Server;
let folder: string;
let url: string;

beforeEach(async () => {
  api = await startTestApi();
  server = createAdaptorServer({ fetch: api.app.fetch }) as Server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), 'tidings-files-'));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await new Promise((resolve) => server.close(resolve));
  await api.close();
});

/** Runs `npm run tidings -- …` in its own process, in the build of the tests. */
function runTidings(words: string[], key = api.one.secretKey, env: Record<string, string> = {}) {
  const root = packageRoot();
  const command = [join(root, 'dist', 'cli', 'tidings.js'), ...words, '--dir', folder];
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const options = { cwd: root, env: { PATH: process.env.PATH, TIDINGS_URL: url, TIDINGS_KEY: key, ...env } };
    execFile(process.execPath, command, options, (error, out, err) => {
      resolve({ code: error ? Number(error.code) : 0, out, err });
    });
  });
}

const listFiles = () =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('.'))
    .sort();
const editFile = (path: string, edit: (text: string) => string) =>
  writeFileSync(join(folder, path), edit(readFileSync(join(folder, path), 'utf8')));

it('pull writes one file per resource with its body in a separate file, and diff reports no differences then', async () => {
  await buildResources(api);
  expect(await runTidings(['pull'])).toMatchObject({ code: 0, out: expect.stringContaining('8 files') });
  expect(listFiles()).toEqual([
    'segments/all-of-them.json',
    'segments/by-hand.json',
    'segments/pro.json',
    'settings.json',
    'templates/welcome.html',
    'templates/welcome.json',
    'topics/news.json',
    join('workflows', 'onboarding.json'),
  ]);
  expect(readFileSync(join(folder, 'templates/welcome.html'), 'utf8')).toBe('<p>Hello</p>');
  expect(JSON.parse(readFileSync(join(folder, 'templates/welcome.json'), 'utf8'))).not.toHaveProperty('body');
  expect(await runTidings(['pull'])).toMatchObject({ code: 0, out: expect.stringContaining('matches the project') });
  expect(await runTidings(['diff'])).toMatchObject({ code: 0, out: 'No differences.\n' });
});

it('push sends changes, also to another project, and diff reports no differences then', async () => {
  await buildResources(api);
  await buildVerifiedDomain(api.db, api.two.id, 'shop.example');
  await runTidings(['pull']);
  editFile('templates/welcome.html', () => '<p>Good day</p>');
  writeFileSync(join(folder, 'segments/new.json'), '{ "name": "New", "type": "STATIC" }');
  editFile('settings.json', (text) => text.replace('"ENABLED"', '"DISABLED"'));
  const diff = await runTidings(['diff']);
  expect(diff).toMatchObject({ code: 1 });
  expect(diff.out.split('\n')).toEqual(
    expect.arrayContaining([
      '~ templates/welcome: body',
      '+ segments/new is only in the files',
      '~ settings: tracking',
    ]),
  );
  expect(await runTidings(['push'])).toMatchObject({ code: 2, err: expect.stringContaining('project:manage') });
  rmSync(join(folder, 'settings.json'));

  expect(await runTidings(['push', '--dry-run'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('This was a dry run'),
  });
  expect((await runTidings(['diff'])).code).toBe(1);
  const pushed = await runTidings(['push']);
  expect(pushed).toMatchObject({
    code: 0,
    out: expect.stringContaining('created segments/new\nupdated templates/welcome: body'),
  });
  expect((await runTidings(['diff'])).code).toBe(0);

  const there = await runTidings(['push'], api.two.secretKey);
  expect(there).toMatchObject({ code: 0, err: expect.stringContaining('secret_missing') });
  expect((await runTidings(['diff'], api.two.secretKey)).code).toBe(0);
});

it('push and diff refuse files that are larger than a document may be, and name the limit and the remedy', async () => {
  mkdirSync(join(folder, 'templates'));
  for (let n = 1; n <= 20; n += 1) {
    const fields = { name: `T${n}`, subject: 'News', type: 'MARKETING' };
    writeFileSync(join(folder, `templates/t${n}.json`), JSON.stringify(fields));
    writeFileSync(join(folder, `templates/t${n}.html`), 'x'.repeat(900_000));
  }
  for (const words of [['push'], ['push', '--dry-run'], ['diff']]) {
    const { code, err } = await runTidings(words);
    expect([code, err.trim().split('\n')]).toEqual([
      2,
      [
        'The files have 17.17 MB, and a push has at most 8 MB. Move some of the files to another folder and push each folder with --dir: a push does not change resources that its folder does not have.',
      ],
    ]);
  }
});

it('push prints each field of a file that the service ignores', async () => {
  const filter = { field: 'data.plan', operator: 'equals', value: 'pro', filed: 'x' };
  mkdirSync(join(folder, 'segments'));
  const segment = { name: 'Pro', condition: { operator: 'AND', conditions: [filter] }, color: 'red' };
  writeFileSync(join(folder, 'segments/pro.json'), JSON.stringify(segment));
  const { code, err } = await runTidings(['push']);
  const why = 'the service does not know this field, so it is not applied.';
  expect([code, err.trim().split('\n')]).toEqual([
    0,
    [
      `warning unknown_field: segments/pro.json condition.conditions.0.filed: ${why}`,
      `warning unknown_field: segments/pro.json color: ${why}`,
    ],
  ]);
});

it('push creates a campaign with variants and their test as a draft, and pull writes the same files', async () => {
  await buildVerifiedDomain(api.db, api.one.id, 'shop.example');
  await buildVerifiedDomain(api.db, api.two.id, 'shop.example');
  const campaign = {
    name: 'News',
    subject: 'Hello',
    from: 'hi@shop.example',
    audienceType: 'ALL',
    variants: [{ name: 'A' }, { name: 'B', subject: 'Good day', weight: 2 }],
    test: { share: 0.2, metric: 'clicks', waitMinutes: 60, minimum: 10 },
  };
  mkdirSync(join(folder, 'campaigns'));
  writeFileSync(join(folder, 'campaigns/news.json'), JSON.stringify(campaign));
  writeFileSync(join(folder, 'campaigns/news.html'), '<p>Hello</p>');
  expect(await runTidings(['push'])).toMatchObject({ code: 0, out: expect.stringContaining('created campaigns/news') });
  expect((await runTidings(['diff'])).code).toBe(0);
  const { campaigns } = (await api.call('GET', '/campaigns')).body;
  expect(campaigns).toMatchObject([{ status: 'DRAFT', slug: 'news', body: '<p>Hello</p>', test: campaign.test }]);
  await runTidings(['pull']);
  expect(listFiles().filter((name) => name.startsWith('campaigns'))).toEqual([
    'campaigns/news.html',
    'campaigns/news.json',
  ]);
  rmSync(join(folder, 'settings.json'));
  expect((await runTidings(['push'], api.two.secretKey)).code).toBe(0);
  editFile('campaigns/news.json', (text) => text.replace('"clicks"', '"luck"'));
  expect(await runTidings(['push'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('campaigns/news.json test.metric'),
  });
});

it('pull deletes the files of records that the project no longer has, after diff listed them', async () => {
  const { pro } = await buildResources(api);
  await runTidings(['pull']);
  const created = await api.call('POST', '/segments', { body: { name: 'Later', type: 'STATIC' } });
  expect(await runTidings(['diff'])).toMatchObject({
    code: 1,
    out: expect.stringContaining('- segments/later is only in the project'),
  });
  await api.call('DELETE', `/segments/${created.body.id}`);
  await api.call('PATCH', `/segments/${pro.id}`, { body: { slug: 'professionals' } });
  await runTidings(['pull']);
  expect(existsSync(join(folder, 'segments/pro.json'))).toBe(false);
  expect(existsSync(join(folder, 'segments/professionals.json'))).toBe(true);
  expect((await runTidings(['diff'])).code).toBe(0);
});

it('push names the invalid file, and ends with exit code 2', async () => {
  await buildResources(api);
  await runTidings(['pull']);
  editFile('templates/welcome.html', () => '{% for %}');
  expect(await runTidings(['push'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('templates/welcome.html body'),
  });
  editFile('templates/welcome.json', () => '{');
  expect(await runTidings(['diff'])).toMatchObject({ code: 2, err: expect.stringContaining('templates/welcome.json') });
  rmSync(join(folder, 'templates/welcome.json'));
  expect(await runTidings(['diff'])).toMatchObject({ code: 2, err: expect.stringContaining('welcome.html') });
});

it('the command ends with exit code 2 without a key, with a wrong key, with too few scopes, without a server, and with an unknown command', async () => {
  expect(await runTidings(['diff'], '')).toMatchObject({ code: 2, err: expect.stringContaining('TIDINGS_KEY') });
  expect(await runTidings(['pull'], 'sk_live_none')).toMatchObject({
    code: 2,
    err: expect.stringContaining('INVALID_API_KEY'),
  });
  const key = await buildApiKey(api.db, api.one.id, []);
  expect(await runTidings(['pull'], key)).toMatchObject({ code: 2, err: expect.stringContaining('templates:view') });
  const nowhere = { TIDINGS_URL: 'http://127.0.0.1:1' };
  expect(await runTidings(['pull'], 'x', nowhere)).toMatchObject({
    code: 2,
    err: expect.stringContaining('does not respond'),
  });
  expect(await runTidings(['tug'])).toMatchObject({ code: 2, err: expect.stringContaining('Usage') });
});
