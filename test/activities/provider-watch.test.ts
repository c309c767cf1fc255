import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { ActivityDeps } from '../../activities/deps.ts';
import { createProviderWatch } from '../../activities/provider-watch.ts';
import type { EmailProvider, OutgoingEmail, ProviderResult } from '../../channels/email/provider.ts';
import { createSesProvider } from '../../channels/email/ses/provider.ts';
import { createSmtpProvider } from '../../channels/email/smtp/provider.ts';
import { startSmtpServer } from '../../cli/demo/smtp-server.ts';
import { createSuppressionPads } from '../../db/contacts/suppressions.ts';
import { claimEmails } from '../../db/sending/email-ledger.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { parseConfig } from '../../rules/config.ts';
import { createActivityDeps } from '../../worker/activity-deps.ts';
import { buildEmail } from '../build/emails.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startFakeSes } from '../support/fake-ses.ts';
import { startSmtpSink } from '../support/smtp/smtp-sink.ts';

let database: TestDatabase;
const cleanup: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'aws-password');
});
afterEach(async () => {
  for (const end of cleanup.splice(0).reverse()) await end();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await database.drop();
});

/** Creates a log with the level `warn`, and an array that gets its lines. */
function createRecordingLog() {
  const lines: Record<string, unknown>[] = [];
  return { lines, log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) }) };
}

const createEmail = (to = 'ann@example.org'): OutgoingEmail => ({
  id: '1',
  projectId: 'p',
  from: 'bounces@example.com',
  to,
  raw: 'Subject: hello\r\n\r\nHello\r\n',
});

function watchProviderWithLog(provider: EmailProvider) {
  cleanup.push(() => provider.close());
  const { lines, log } = createRecordingLog();
  const clock = { ms: 0 };
  const watched = createProviderWatch({ log, address: 'mail.example.com:587', now: () => clock.ms })(provider);
  const submitEmail = () => new Promise<ProviderResult>((resolve) => watched.submit(createEmail(), resolve));
  return { lines, clock, watched, submit: submitEmail };
}

it('the provider watch reports a refused login once a minute, for single emails and campaigns, and never shows the password', async () => {
  const server = await startSmtpServer();
  cleanup.push(() => server.close());
  const { lines, clock, watched, submit } = watchProviderWithLog(
    createSmtpProvider({ url: `smtp://ann:wr0ng@127.0.0.1:${server.port}` }),
  );
  await Promise.all([watched.send(createEmail()), submit(), watched.send(createEmail())]);
  clock.ms = 59_999;
  await submit();
  expect(lines).toMatchObject([
    {
      msg: 'the email provider refuses our login or account; emails are deferred',
      provider: 'smtp',
      address: 'mail.example.com:587',
      reason: '535',
      emails: 1,
    },
  ]);
  clock.ms = 60_000;
  await submit();
  expect(lines[1]).toMatchObject({ reason: '535', emails: 4 });
  expect(JSON.stringify(lines)).not.toMatch(/wr0ng|ann/);
});

it('the provider watch reports credentials that SES refuses, without the parts of the request that the SES reply repeats', async () => {
  const fake = await startFakeSes();
  cleanup.push(() => fake.close());
  const message = 'The signature does not match.\n\nThe canonical request was x-amz-security-token:t0k3n';
  fake.responses.push({ status: 403, type: 'SignatureDoesNotMatch', message });
  const { lines, watched } = watchProviderWithLog(createSesProvider({ region: 'eu-west-1', endpoint: fake.endpoint }));
  await watched.send(createEmail());
  await watched.send(createEmail());
  expect(lines).toMatchObject([{ provider: 'ses', reason: expect.stringContaining('SignatureDoesNotMatch') }]);
  expect(JSON.stringify(lines)).not.toMatch(/t0k3n|aws-password/);
});

it('the provider watch reports an unreachable mail server', async () => {
  const sink = await startSmtpSink();
  await sink.close();
  const { lines, submit } = watchProviderWithLog(createSmtpProvider({ url: sink.url }));
  await submit();
  expect(lines).toMatchObject([
    {
      msg: 'the email provider cannot be reached; emails are deferred',
      reason: expect.stringContaining('ECONNREFUSED'),
    },
  ]);
});

it('the provider watch reports nothing for accepted emails, refusals of single emails, or a stopping worker', async () => {
  const sink = await startSmtpSink();
  cleanup.push(() => sink.close());
  const { lines, watched } = watchProviderWithLog(createSmtpProvider({ url: sink.url }));
  expect(await watched.send(createEmail())).toMatchObject({ outcome: 'accepted' });
  for (const to of ['reject550-5.1.1@example.org', 'defer450-4.2.1@example.org'])
    expect(await watched.send(createEmail(to))).toMatchObject({ outcome: 'refused' });
  expect(await watched.send(createEmail(), AbortSignal.abort())).toMatchObject({ outcome: 'unsent' });
  await watched.close();
  expect(await watched.send(createEmail())).toMatchObject({ outcome: 'unsent' });
  expect(lines).toEqual([]);
});

it('a worker reports a refused login once for single emails and campaigns together, and defers emails with the reason', async () => {
  const server = await startSmtpServer();
  cleanup.push(() => server.close());
  const config = parseConfig({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    SECRET_KEY: TEST_SECRET_KEY,
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: `smtp://ann:wr0ng@127.0.0.1:${server.port}`,
  });
  const { id: projectId } = await buildProject(database.db, 'Mail');
  await buildDomain(database.db, { projectId, signing: false });
  const id = await buildEmail(database.db, { projectId });
  const emails = [{ id, deliveryId: '0190a000-0000-7000-8000-00000000d001' }];
  const pads = createSuppressionPads(deriveKey(TEST_SECRET_KEY, 'suppression'));
  const [email] = await claimEmails(database.db, { projectId, emails, suppressionPads: pads });
  if (!email) throw new Error('not claimed');
  // A starting worker probes the route, and pauses it a little later. From then on email waits without an attempt.
  const { lines, log } = createRecordingLog();
  const lifecycle = {} as unknown as ActivityDeps['lifecycle'];
  const outbox = { wake: () => {} };
  const { deps, close } = createActivityDeps({
    config,
    db: database.db,
    outbox,
    lifecycle,
    log,
    stopping: new AbortController().signal,
    onComputed: () => {},
    onResume: () => {},
  });
  cleanup.push(close);
  const { outcome } = await deps.mailer.deliver(email);
  await new Promise((resolve) => deps.bulkProvider.submit(createEmail(), resolve));
  expect(outcome).toMatchObject({ kind: 'deferred', error: expect.stringMatching(/^535 /) });
  const warnings = lines.filter(
    ({ msg }) => msg === 'the email provider refuses our login or account; emails are deferred',
  );
  expect(warnings).toMatchObject([{ provider: 'smtp', address: `127.0.0.1:${server.port}`, emails: 1 }]);
  expect(JSON.stringify(lines)).not.toContain('wr0ng');
});

it("the provider watch logs the SMTP client's findings about a server, with the address of the server", () => {
  const { lines } = watchProviderWithLog({
    kind: 'smtp',
    send: async () => ({ outcome: 'unsent', error: 'none' }),
    submit: () => () => true,
    close: async () => {},
    onNotice: (listener) => listener('it mixes up the order of its responses'),
  });
  expect(lines).toEqual([
    expect.objectContaining({ msg: 'it mixes up the order of its responses', address: 'mail.example.com:587' }),
  ]);
});
