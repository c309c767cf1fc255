import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createCertificate } from '../support/certificate.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runDoctor, runDoctorInProcess } from '../support/doctor.ts';
import { createTestTemporal, type TestTemporal } from '../support/services.ts';
import { createHomePath, removeHome, type StartedService, startService } from '../support/start.ts';

/** An address on which no server listens. */
const NOWHERE = '127.0.0.1:1';
const NO_HOME = join(tmpdir(), 'tidings-doctor-no-home');
const GOOD_KEY = randomBytes(32).toString('hex');

let database: TestDatabase;
let temporal: TestTemporal;
let files: string;
beforeAll(async () => {
  [database, temporal] = await Promise.all([createTestDatabase(), createTestTemporal()]);
  files = mkdtempSync(join(tmpdir(), 'tidings-doctor-'));
});
afterAll(async () => {
  rmSync(files, { recursive: true });
  await database.drop();
});

const createEnv = (more: Record<string, string> = {}) => ({ TIDINGS_HOME: NO_HOME, ...more });

describe('doctor beside npm start on loopback', () => {
  const home = createHomePath();
  let service: StartedService;
  beforeAll(async () => {
    service = await startService({ home });
  });
  afterAll(async () => {
    service?.signal('SIGTERM');
    await service?.exited;
    await removeHome(home);
  });

  it('finds no problem, and checks the running Postgres and Temporal', async () => {
    const { output, exitCode, of } = await runDoctor({ TIDINGS_HOME: home });
    const lines = output.split('\n').filter((line) => /^(warn|fail) /.test(line) && !/^\w+ {2}disk /.test(line));
    expect(lines).toEqual([]);
    expect(of('Postgres')).toEqual([expect.stringMatching(/^pass 127\.0\.0\.1:\d+ is Postgres 18\./)]);
    expect(of('Temporal')).toEqual([expect.stringMatching(/^pass .* keeps ended workflows for \d+ h$/)]);
    expect(of('secret key')).toEqual(['pass stored in the home, 64 characters']);
    // The result for the disk depends on the machine, so it is not compared.
    expect(exitCode).toBe(of('disk')[0]?.startsWith('pass') ? 0 : expect.any(Number));
  });

  it('reports that a different SECRET_KEY cannot decrypt the stored secrets', async () => {
    const { of, exitCode } = await runDoctor({ TIDINGS_HOME: home, SECRET_KEY: GOOD_KEY });
    expect(of('secret key')).toEqual([
      'pass SECRET_KEY, 64 characters',
      expect.stringMatching(/^fail the key cannot decrypt the secrets in the database → set SECRET_KEY/),
    ]);
    expect(exitCode).toBe(2);
  });
});

describe('doctor, on settings,', () => {
  it('fails and shows the error of an invalid value', async () => {
    const { output, exitCode } = await runDoctor(createEnv({ PORT: 'abc' }));
    expect(output).toMatch(/^fail {2}settings {2}PORT must be a port number/);
    expect(exitCode).toBe(2);
  });

  it('warns about parts that it could not check', async () => {
    const { of, exitCode } = await runDoctorInProcess(createEnv());
    expect(of('Postgres')).toEqual([expect.stringMatching(/^warn .* → run npm start/)]);
    expect(of('Temporal')).toEqual([expect.stringMatching(/^warn .* → run npm start/)]);
    expect(exitCode).toBeGreaterThan(0);
  });

  it.each([
    ['fail', 'changeme-changeme-changeme-changeme'],
    ['fail', 'a'.repeat(64)],
    ['warn', 'x8Kq0vLz2mRt7Yw1'],
    ['pass', GOOD_KEY],
  ])('reports %s for a SECRET_KEY such as %s, and never shows the key', async (verdict, key) => {
    const { of, output } = await runDoctorInProcess(createEnv({ SECRET_KEY: key }));
    expect(of('secret key')).toEqual([expect.stringMatching(new RegExp(`^${verdict} `))]);
    expect(output).not.toContain(key);
  });

  it('fails if separate processes would have no SECRET_KEY', async () => {
    const separateServers = { DATABASE_URL: `postgres://x:hunter2@${NOWHERE}/x`, TEMPORAL_ADDRESS: NOWHERE };
    const { of, output } = await runDoctorInProcess(createEnv(separateServers));
    expect(of('secret key')).toEqual([expect.stringMatching(/^fail SECRET_KEY is not set/)]);
    expect(of('Postgres')).toEqual([
      expect.stringMatching(/^fail 127\.0\.0\.1:1 cannot be reached .*ECONNREFUSED.* → check DATABASE_URL/),
    ]);
    expect(of('Temporal')).toEqual([
      expect.stringMatching(/^fail 127\.0\.0\.1:1 cannot be reached .* → check TEMPORAL_ADDRESS/),
    ]);
    expect(output).not.toContain('hunter2');
  });

  it('names everything that a public HOST exposes by accident', async () => {
    const careless = { HOST: '0.0.0.0', SIGNUP: 'on', WEBHOOK_ALLOW_PRIVATE: 'true', RATE_LIMIT_PER_MINUTE: '0' };
    const listeners = {
      SMTP_RELAY_PORT: '2525',
      SMTP_RELAY_ALLOW_PLAIN: 'true',
      METRICS_PORT: '9464',
      METRICS_HOST: '0.0.0.0',
    };
    const { of, exitCode } = await runDoctorInProcess(createEnv({ ...careless, ...listeners }));
    expect(of('public HOST')).toEqual([
      expect.stringMatching(/^fail links in emails lead to http:\/\/127\.0\.0\.1:3000.* → set PUBLIC_URL/),
      expect.stringMatching(/^warn anyone .* may sign up .* → set SIGNUP/),
      expect.stringMatching(/^fail webhooks can call private addresses.* → set WEBHOOK_ALLOW_PRIVATE=false/),
      expect.stringMatching(/^fail the SMTP relay accepts API keys without TLS → set TLS_CERT_FILE/),
      expect.stringMatching(/^warn requests have no rate limit → set RATE_LIMIT_PER_MINUTE/),
      expect.stringMatching(/^warn anyone can read metrics at 0\.0\.0\.0/),
    ]);
    expect(of('capture')).toEqual([
      expect.stringMatching(/^fail EMAIL_PROVIDER is capture.* → set EMAIL_PROVIDER=smtp/),
    ]);
    expect(of('TLS')).toContainEqual(expect.stringMatching(/^warn SMTP relay without TLS/));
    expect(exitCode).toBe(2);
  });

  it('warns if email is captured on a public host, and passes if no email is captured', async () => {
    const allowed = await runDoctorInProcess(createEnv({ HOST: '0.0.0.0', ALLOW_CAPTURE: 'true' }));
    expect(allowed.of('capture')).toEqual([expect.stringMatching(/^warn email: captured instead of sent/)]);
    const proxied = await runDoctorInProcess(createEnv({ PUBLIC_URL: 'http://mail.example.com' }));
    expect(proxied.of('capture')).toEqual([expect.stringMatching(/^warn email and SMS: captured instead of sent/)]);
    expect(proxied.of('TLS')).toEqual([
      expect.stringMatching(/^fail PUBLIC_URL http:\/\/mail\.example\.com is not encrypted/),
    ]);
    const real = await runDoctorInProcess(createEnv({ EMAIL_PROVIDER: 'smtp', SMTP_URL: `smtp://${NOWHERE}` }));
    expect(real.of('capture')).toEqual(['pass email and SMS are not captured']);
  });
});

describe('doctor, on Postgres,', () => {
  it('fails for settings that lose confirmed data, such as the settings of the tests', async () => {
    const { of } = await runDoctorInProcess(createEnv({ DATABASE_URL: database.url }));
    expect(of('Postgres')).toEqual(
      ['fsync', 'full_page_writes', 'synchronous_commit'].map((name) =>
        expect.stringMatching(new RegExp(`^fail ${name} is off: .* → set ${name} = on`)),
      ),
    );
  });

  it('fails for a database with pending migrations', async () => {
    const { of } = await runDoctorInProcess(createEnv({ DATABASE_URL: inject('postgresUrl') }));
    expect(of('Postgres')).toContainEqual(
      expect.stringMatching(/^fail the database has \d+ pending migrations → run npm run migrate/),
    );
  });

  it('fails if Postgres allows fewer connections than the workers open', async () => {
    const { of } = await runDoctorInProcess(createEnv({ DATABASE_URL: database.url, WORKERS: '64' }));
    expect(of('Postgres')).toContainEqual(
      expect.stringMatching(/^fail an API and 64 workers open up to 1365 connections.* → raise max_connections/),
    );
  });

  it('checks SECRET_KEY against stored secrets', async () => {
    const { id: projectId } = await buildProject(database.db, 'Keys');
    await buildDomain(database.db, { projectId });
    const right = await runDoctorInProcess(createEnv({ DATABASE_URL: database.url, SECRET_KEY: TEST_SECRET_KEY }));
    expect(right.of('secret key')).not.toContainEqual(expect.stringContaining('cannot decrypt'));
    const wrong = await runDoctorInProcess(createEnv({ DATABASE_URL: database.url, SECRET_KEY: GOOD_KEY }));
    expect(wrong.of('secret key')).toContainEqual(
      expect.stringMatching(/^fail the key cannot decrypt the secrets in the database/),
    );
  });
});

describe('doctor, on Temporal,', () => {
  const diagnoseNamespace = (namespace: string) =>
    runDoctorInProcess(createEnv({ TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: namespace }));

  async function createNamespaceThatKeeps(hours: number): Promise<string> {
    const connection = await Connection.connect({ address: temporal.address });
    const namespace = `doctor-${randomBytes(6).toString('hex')}`;
    const workflowExecutionRetentionPeriod = { seconds: (hours * 3_600) as never };
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    await connection.close();
    return namespace;
  }

  it.each([
    ['pass', 168],
    ['warn', 24],
    ['fail', 2],
  ])('reports %s for a namespace with a retention of %d h', async (verdict, hours) => {
    const { of } = await diagnoseNamespace(await createNamespaceThatKeeps(hours));
    const remedy = verdict === 'pass' ? '$' : '.* → temporal operator namespace update';
    expect(of('Temporal')).toEqual([
      expect.stringMatching(new RegExp(`^${verdict} .* keeps ended workflows for ${hours} h${remedy}`)),
    ]);
  });

  it('fails for a missing namespace', async () => {
    expect((await diagnoseNamespace('nobody-made-this')).of('Temporal')).toEqual([
      expect.stringMatching(/^fail .* has no namespace nobody-made-this → temporal operator namespace create/),
    ]);
  });
});

describe('doctor, on TLS,', () => {
  it('fails for a certificate that browsers do not trust, and warns about one that expires soon', async () => {
    const { cert, key } = await createCertificate('localhost');
    const server = createHttps({ cert, key }, (_, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const trusted = join(files, 'trusted.pem');
    writeFileSync(trusted, cert);
    const PUBLIC_URL = `https://localhost:${(server.address() as AddressInfo).port}`;
    const untrustedReport = await runDoctorInProcess(createEnv({ PUBLIC_URL }));
    const known = await runDoctor(createEnv({ PUBLIC_URL, NODE_EXTRA_CA_CERTS: trusted }));
    server.close();
    const gone = await runDoctorInProcess(createEnv({ PUBLIC_URL }));
    expect(untrustedReport.of('TLS')).toEqual([
      expect.stringMatching(/^fail the certificate of https:\/\/localhost.* is not valid/),
    ]);
    expect(known.of('TLS')).toEqual([
      expect.stringMatching(/^warn the certificate of .* expires in 1 day → renew the certificate/),
    ]);
    expect(gone.of('TLS')).toEqual([expect.stringMatching(/^warn https:\/\/localhost.* was not reached from here/)]);
  });

  it('fails for missing or mismatched files of the mail listeners', async () => {
    const [one, two] = await Promise.all([createCertificate(), createCertificate()]);
    const paths = { TLS_CERT_FILE: join(files, 'one.pem'), TLS_KEY_FILE: join(files, 'two.key') };
    writeFileSync(paths.TLS_CERT_FILE, one.cert);
    writeFileSync(paths.TLS_KEY_FILE, two.key);
    expect((await runDoctorInProcess(createEnv(paths))).of('TLS')).toContainEqual(
      expect.stringMatching(/^fail TLS_KEY_FILE is not the key of TLS_CERT_FILE/),
    );
    const absent = { ...paths, TLS_KEY_FILE: join(files, 'absent.key') };
    expect((await runDoctorInProcess(createEnv(absent))).of('TLS')).toContainEqual(
      expect.stringMatching(/^fail TLS_CERT_FILE or TLS_KEY_FILE cannot be used: ENOENT/),
    );
  });
});

describe('doctor, on the clock,', () => {
  it('compares the clock with Postgres and with the hosts that verify signed requests', async () => {
    const server = createHttp((_, response) => {
      response.setHeader('date', new Date(Date.now() + 3_600_000).toUTCString());
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const SES_ENDPOINT = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const ses = { EMAIL_PROVIDER: 'ses', SES_REGION: 'eu-west-1', SES_ENDPOINT };
    const { of } = await runDoctorInProcess(createEnv({ ...ses, DATABASE_URL: database.url }));
    server.close();
    expect(of('clock')).toEqual([
      "pass this machine's time agrees with the time of Postgres (on this machine)",
      expect.stringMatching(
        /^fail this machine's time is 3[56]\d\d\.\d s behind the time of 127\.0\.0\.1:\d+ → let NTP/,
      ),
    ]);
  });
});
