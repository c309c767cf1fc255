import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../cli/package-root.ts';
import { getSendRate } from '../../../db/sending/send-rate.ts';
import { buildDomain } from '../../build/senders.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { signIn } from '../../support/session.ts';

let api: TestApi;
let owner: Record<string, string>;
beforeAll(async () => {
  api = await startTestApi();
  owner = await signIn(api, api.one);
  await buildDomain(api.db, { projectId: api.one.id });
});
afterAll(() => api.close());

/** Runs `npm run operator -- project <id> …` in its own process, configured by its environment alone. */
async function runOperator(...words: string[]) {
  const child = spawn(process.execPath, [join(packageRoot(), 'dist', 'cli', 'operator.js'), ...words], {
    env: { PATH: process.env.PATH, DATABASE_URL: api.deps.config.database.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const [code] = await once(child, 'close');
  return { code, output };
}
const runOperatorOnProject = (...words: string[]) => runOperator('project', api.one.id, ...words);

const callAsOwner = (method: string, path: string, body?: object) =>
  api.call(method, path, { key: null, headers: owner, ...(body && { body }) });
const send = () =>
  api.call('POST', '/v1/send', {
    body: { to: 'ada@example.com', from: 'x@shop.example.com', subject: 'S', body: '<p>b</p>' },
  });

describe("an operator's limits", () => {
  it('cannot be loosened by the tenant: a looser value returns 422 and names the limit', async () => {
    expect((await callAsOwner('PATCH', '/project', { monthlyEmailLimit: 500, bounceGuard: 0.08 })).status).toBe(200);
    const words = ['monthlyEmailLimit=1', 'sendRatePerSecond=5', 'bounceGuard=0.05', 'complaintGuard=0.001'];
    expect(await runOperatorOnProject(...words.flatMap((word) => ['--set', word]))).toMatchObject({ code: 0 });
    expect((await send()).status).toBe(200);
    expect((await send()).body.error.code).toBe('BILLING_LIMIT_EXCEEDED');
    const refused = await callAsOwner('PATCH', '/project', {
      monthlyEmailLimit: null,
      sendRatePerSecond: 6,
      bounceGuard: 1,
      complaintGuard: 0.002,
      name: 'Mine',
    });
    expect([refused.status, refused.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(refused.body.error.errors.map(({ field }: { field: string }) => field)).toEqual([
      ...['sendRatePerSecond', 'monthlyEmailLimit', 'bounceGuard', 'complaintGuard'],
    ]);
    expect(refused.body.error.errors[1].message).toContain('1');
    expect((await send()).body.error.code).toBe('BILLING_LIMIT_EXCEEDED');
    expect((await callAsOwner('GET', '/project')).body).toMatchObject({
      name: 'One',
      monthlyEmailLimit: 1,
      sendRatePerSecond: 5,
      bounceGuard: 0.05,
      complaintGuard: 0.001,
      operatorLimits: {
        monthlyEmailLimit: 1,
        sendRatePerSecond: 5,
        bounceGuard: 0.05,
        complaintGuard: 0.001,
        held: false,
      },
    });
    expect(await getSendRate(api.db, { projectId: api.one.id, installationRate: 100 })).toBe(5);
  });

  it('may be tightened by the tenant, whose values apply again when the operator removes the limits', async () => {
    const tight = await callAsOwner('PATCH', '/project', { monthlyEmailLimit: 0, sendRatePerSecond: 5 });
    expect(tight.body).toMatchObject({ monthlyEmailLimit: 0, sendRatePerSecond: 5 });
    await runOperatorOnProject('--set', 'monthlyEmailLimit=none', '--set', 'bounceGuard=none');
    expect((await callAsOwner('GET', '/project')).body).toMatchObject({ monthlyEmailLimit: 0, bounceGuard: 0.08 });
    expect((await callAsOwner('PATCH', '/project', { monthlyEmailLimit: null })).body.monthlyEmailLimit).toBe(null);
    expect((await send()).status).toBe(200);
  });

  it('are in the audit log with the name of their operator', async () => {
    const { data } = (await callAsOwner('GET', '/audit-log')).body;
    const ofOperator = data.filter(({ actor }: { actor: string }) => actor.startsWith('operator:'));
    expect(
      ofOperator.map(({ action, ip, details }: { action: string; ip: null; details: object }) => ({
        action,
        ip,
        details,
      })),
    ).toEqual([
      {
        action: 'project.updated',
        ip: null,
        details: { operatorLimits: { monthlyEmailLimit: null, bounceGuard: null } },
      },
      {
        action: 'project.updated',
        ip: null,
        details: {
          operatorLimits: { monthlyEmailLimit: 1, sendRatePerSecond: 5, bounceGuard: 0.05, complaintGuard: 0.001 },
        },
      },
    ]);
  });

  it('may set looser guards than the defaults, which the project cannot loosen further', async () => {
    const refused = await callAsOwner('PATCH', '/project', { bounceGuard: 0.11, complaintGuard: 1 });
    expect(refused.status).toBe(422);
    expect(refused.body.error.errors).toMatchObject([
      { field: 'bounceGuard', message: expect.stringContaining('at most 0.1:') },
      { field: 'complaintGuard', message: expect.stringContaining('at most 0.001:') },
    ]);
    expect((await callAsOwner('PATCH', '/project', { bounceGuard: 0.1 })).body).toMatchObject({ bounceGuard: 0.1 });
    const apply = (settings: object) => callAsOwner('POST', '/project/apply', { version: 1, settings });
    const applied = await apply({ bounceGuard: 0.2 });
    expect(applied.status).toBe(422);
    expect(applied.body.error.errors).toMatchObject([
      { field: 'settings.bounceGuard', message: expect.stringContaining('at most 0.1:') },
    ]);
    await runOperatorOnProject('--set', 'bounceGuard=0.2');
    expect((await callAsOwner('PATCH', '/project', { bounceGuard: 0.21 })).status).toBe(422);
    expect((await apply({ bounceGuard: 0.2 })).status).toBe(200);
    expect((await callAsOwner('GET', '/project')).body).toMatchObject({ bounceGuard: 0.2 });
  });
});

describe("an operator's hold", () => {
  it('cannot be released by the tenant, whose own hold is separate', async () => {
    await callAsOwner('POST', '/project/hold', { reason: 'of the owner' });
    expect((await runOperatorOnProject('--hold', 'Bought list, see ticket 7')).code).toBe(0);
    expect((await callAsOwner('GET', '/project')).body).toMatchObject({
      hold: { held: true, reason: 'Bought list, see ticket 7' },
      operatorLimits: { held: true },
    });
    const refused = await callAsOwner('POST', '/project/release');
    expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
    expect(refused.body.error.message).toContain('Bought list, see ticket 7');
    expect((await api.call('GET', '/health')).body.project.hold.held).toBe(true);
    const released = await runOperatorOnProject('--release');
    expect([released.code, released.output]).toEqual([0, expect.stringContaining('of the owner')]);
    expect((await callAsOwner('GET', '/project')).body.hold).toMatchObject({ held: true, reason: 'of the owner' });
    expect((await callAsOwner('POST', '/project/release')).body.hold.held).toBe(false);
  });

  it('is released once: a second release queues no work', async () => {
    const countQueued = async () =>
      (await api.db.selectFrom('outbox').select('id').where('kind', '=', 'hold.release').execute()).length;
    const before = await countQueued();
    await runOperatorOnProject('--hold', 'again');
    await runOperatorOnProject('--release');
    await runOperatorOnProject('--release');
    expect(await countQueued()).toBe(before + 1);
    expect((await callAsOwner('GET', '/project')).body.hold).toEqual({ held: false, since: null, reason: null });
  });
});

describe('npm run operator', () => {
  it.each([
    [[], /^Usage: /],
    [['project', 'nobody'], /is not a project id/],
    [['project', '0190a000-0000-7000-8000-000000000000'], /There is no project/],
    [
      ['project', '0190a000-0000-7000-8000-000000000000', '--set', 'name=x'],
      /^monthlyEmailLimit, sendRatePerSecond, /m,
    ],
    [['project', '0190a000-0000-7000-8000-000000000000', '--set', 'bounceGuard=2'], /bounceGuard must be /],
    [
      ['project', '0190a000-0000-7000-8000-000000000000', '--set', 'monthlyEmailLimit=-1'],
      /monthlyEmailLimit must be /,
    ],
    [['project', '0190a000-0000-7000-8000-000000000000', '--hold', 'x', '--release'], /^Usage: /],
    [['project', '0190a000-0000-7000-8000-000000000000', '--unknown'], /^Usage: /],
  ])('with the arguments %j reports the problem and ends with exit code 1', async (words, line) => {
    const { code, output } = await runOperator(...words);
    expect([code, output]).toEqual([1, expect.stringMatching(line)]);
  });

  it('shows the limits of the project if it changes nothing', async () => {
    const { code, output } = await runOperatorOnProject();
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ id: api.one.id, operatorLimits: { sendRatePerSecond: 5 } });
  });
});

it('limits of one project do not change another project', async () => {
  const other = await signIn(api, api.two);
  const { body } = await api.call('GET', '/project', { key: null, headers: other });
  expect(body).toMatchObject({ monthlyEmailLimit: null, sendRatePerSecond: null, hold: { held: false } });
});
