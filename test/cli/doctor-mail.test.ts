import { createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../channels/public-address.ts';
import { listDomains } from '../../db/domains/domains.ts';
import { parseSettings } from '../../rules/config.ts';
import { listDnsRecords } from '../../rules/domains/sender-domain.ts';
import { createDnsRecordSource } from '../../rules/provenance/record-source.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type DnsServer, startDnsServer, type Zone } from '../support/dns-server.ts';
import { runDoctor, runDoctorInProcess } from '../support/doctor.ts';
import { createAcceptingScript, type ScriptedSmtp, startScriptedSmtp } from '../support/smtp/scripted-smtp.ts';

/** The address from which email would be sent. It is reserved for documentation (RFC 5737). */
const OURS = '203.0.113.7';
const OUR_PTR = '7.113.0.203.in-addr.arpa';
const OUR_NAME = 'mail.example.com';
const PUBLIC_URL = `https://${OUR_NAME}`;
/** A second loopback address, so that no other program uses its port 25. */
const RECEIVER = '127.0.25.1';

let database: TestDatabase;
let dns: DnsServer;
let relay: ScriptedSmtp;
beforeAll(async () => {
  database = await createTestDatabase();
  dns = await startDnsServer();
  relay = await startScriptedSmtp(createAcceptingScript(), `220 ${OUR_NAME} ESMTP`);
  const { id: projectId } = await buildProject(database.db, 'Mail');
  await buildDomain(database.db, { projectId, domain: 'shop.example.com' });
});
afterAll(async () => {
  await Promise.all([relay.close(), dns.close()]);
  await database.drop();
});
beforeEach(() => dns.zones.clear());

/** Runs the checks of email with this DNS, as for a host that sends email with its own server. */
const runEmailChecks = (env: Record<string, string> = {}, words = ['--address', OURS]) =>
  runDoctorInProcess(
    {
      TIDINGS_HOME: join(tmpdir(), 'tidings-doctor-no-home'),
      DATABASE_URL: database.url,
      DNS_SERVERS: dns.address,
      EMAIL_PROVIDER: 'smtp',
      SMTP_URL: relay.url,
      PUBLIC_URL,
      ...env,
    },
    words,
  );

function publishZones(zones: Record<string, Zone | 'fault' | 'silent'>): void {
  for (const [name, zone] of Object.entries(zones)) dns.zones.set(name, zone);
}

/** Publishes the DNS records that the service asks for, except the records for some purposes. */
async function publishDomain(without: string[] = []): Promise<void> {
  const { id: projectId } = await database.db.selectFrom('projects').select('id').executeTakeFirstOrThrow();
  const [domain] = await listDomains(database.db, projectId);
  if (!domain) throw new Error('the domain does not exist');
  const settings = parseSettings({ EMAIL_PROVIDER: 'smtp', SMTP_URL: relay.url, PUBLIC_URL });
  for (const { purpose, type, name, value } of listDnsRecords(createDnsRecordSource(settings, domain), {})) {
    const zone = dns.zones.get(name) ?? {};
    if (typeof zone === 'string') continue;
    const values = without.includes(purpose) ? [] : [value];
    dns.zones.set(name, { ...zone, [type]: [...new Set([...(zone[type] ?? []), ...values])] });
  }
}

describe('doctor, on sender domains,', () => {
  it('passes a domain whose DNS has all its records', async () => {
    await publishDomain();
    expect((await runEmailChecks()).of('sender domains')).toEqual([
      'pass shop.example.com has DKIM, SPF, DMARC and a return path',
    ]);
  });

  it('warns about a domain that receivers cannot resolve, although our mail server accepts its email', async () => {
    await publishDomain();
    const { id: projectId } = await buildProject(database.db, 'First');
    await buildDomain(database.db, { projectId, domain: 'tidings.test' });
    const { of, exitCode } = await runEmailChecks();
    expect(of('sender domains')).toContainEqual(
      expect.stringMatching(/^warn tidings\.test is reserved for tests: .* → send from your own domain/),
    );
    expect(exitCode).toBeGreaterThan(0);
    await database.db.deleteFrom('domains').where('domain', '=', 'tidings.test').execute();
  });

  it('fails if DKIM is missing, warns if other records are missing, and says what to publish', async () => {
    await publishDomain(['DKIM', 'DMARC']);
    const { of, exitCode } = await runEmailChecks();
    expect(of('sender domains')).toEqual([
      expect.stringMatching(
        /^fail shop\.example\.com has no DKIM record .* → publish TXT tidings\._domainkey\.shop\.example\.com "v=DKIM1/,
      ),
      expect.stringMatching(/^warn shop\.example\.com has no DMARC record .* → publish TXT _dmarc\.shop\.example\.com/),
    ]);
    expect(exitCode).toBe(2);
  });

  it('warns about names that the DNS does not resolve in time, and ends', async () => {
    publishZones({
      'shop.example.com': 'silent',
      'bounces.shop.example.com': 'silent',
      '_dmarc.shop.example.com': 'silent',
      'tidings._domainkey.shop.example.com': 'fault',
    });
    publishZones({ [OUR_PTR]: 'silent', 'gmail.com': 'silent', 'outlook.com': 'fault', [OUR_NAME]: 'silent' });
    const { of } = await runEmailChecks();
    expect(of('sender domains')).toEqual([
      expect.stringMatching(/^warn the DNS did not respond for shop\.example\.com \(DKIM, SPF, DMARC, RETURN PATH\)/),
    ]);
    expect(of('PTR and HELO')).toEqual([
      expect.stringMatching(/^warn the DNS did not respond/),
      expect.stringMatching(/^warn the DNS did not respond/),
    ]);
    expect(of('port 25 out')).toEqual([
      expect.stringMatching(/^warn no receiver is reachable: .*no response in time.*ESERVFAIL/),
    ]);
  });
});

describe('doctor, on the mail server,', () => {
  it('sends MAIL and RCPT as for an email, and resets both', async () => {
    const server = await startScriptedSmtp(createAcceptingScript());
    await runEmailChecks({ SMTP_URL: server.url, RETURN_PATH_DOMAIN: 'bounces.example.com' });
    await server.close();
    expect(server.lines.filter((line) => /^(EHLO|MAIL|RCPT|RSET|DATA)/.test(line))).toEqual([
      'EHLO bounces.example.com',
      'MAIL FROM:<postmaster@bounces.example.com>',
      'RCPT TO:<postmaster@gmail.com>',
      'RSET',
    ]);
  });

  it.each([
    ['RCPT', '554 5.7.1 <postmaster@gmail.com>: Recipient address rejected: Access denied', 'Access denied'],
    [
      'MAIL',
      '553 5.7.1 <postmaster@shop.example.com>: Sender address rejected: not owned by user',
      'not owned by user',
    ],
  ])('fails if the server refuses us at %s, with its text and without addresses', async (verb, reply, words) => {
    const server = await startScriptedSmtp(createAcceptingScript({ [verb]: reply }));
    const { of } = await runEmailChecks({ SMTP_URL: server.url });
    await server.close();
    const [line = ''] = of('mail server');
    expect(line).toMatch(
      new RegExp(`^fail .* at ${verb} it replies ${reply.slice(0, 3)} .*${words}.* → check SMTP_URL`),
    );
    expect(line).not.toContain('@');
  });

  it('warns about a route that is paused, with the reply of the server', async () => {
    const pause = { route: 'r', refusal: 'x', stage: 'auth' as const, reply: '535 5.7.8 no', sender_host: 'a.example' };
    await database.db
      .insertInto('route_pauses')
      .values({ ...pause, next_probe_at: new Date() })
      .execute();
    const { of } = await runEmailChecks();
    await database.db.deleteFrom('route_pauses').execute();
    expect(of('mail server')).toContainEqual(
      expect.stringMatching(/^warn email of all projects waits, because the mail server replied 535 5\.7\.8 no → fix/),
    );
  });

  it('passes if the server refuses only the test recipient, because it would accept our email', async () => {
    const server = await startScriptedSmtp(createAcceptingScript({ RCPT: '550 5.1.1 User unknown' }));
    const { of } = await runEmailChecks({ SMTP_URL: server.url });
    await server.close();
    expect(of('mail server')).toEqual([expect.stringMatching(/^pass /)]);
  });

  it('signs in with the credentials of SMTP_URL, as sending does', async () => {
    expect((await runEmailChecks()).of('mail server')).toEqual([
      expect.stringMatching(/^pass 127\.0\.0\.1:\d+ accepts email from mail\.example\.com$/),
    ]);
    const strict = await startScriptedSmtp(
      createAcceptingScript({ AUTH: '535 5.7.8 Error: authentication failed' }, ['AUTH PLAIN']),
    );
    const refused = await runEmailChecks({ SMTP_URL: strict.url.replace('//', '//ann:hunter2@') });
    await strict.close();
    expect(refused.of('mail server')).toEqual([
      expect.stringMatching(
        /^fail 127\.0\.0\.1:\d+ does not accept email from mail\.example\.com: at AUTH it replies 535 .*authentication failed.* → check SMTP_URL/,
      ),
    ]);
    expect(refused.output).not.toContain('hunter2');
  });

  it('fails if no mail server listens', async () => {
    const { of } = await runEmailChecks({ SMTP_URL: 'smtp://127.0.0.1:1' });
    expect(of('mail server')).toEqual([
      expect.stringMatching(/^fail 127\.0\.0\.1:\d+ does not accept email: .*ECONNREFUSED/),
    ]);
  });
});

describe('doctor, on PTR and HELO,', () => {
  it('passes if reverse name, forward name and HELO match', async () => {
    publishZones({ [OUR_PTR]: { PTR: [OUR_NAME] }, [OUR_NAME]: { A: [OURS] } });
    expect((await runEmailChecks()).of('PTR and HELO')).toEqual([
      `pass ${OURS} and ${OUR_NAME} resolve to each other`,
      `pass the mail server calls itself ${OUR_NAME}, which resolves to ${OURS}`,
    ]);
  });

  it('fails without a reverse name, and for a name that resolves to another address', async () => {
    expect((await runEmailChecks()).of('PTR and HELO')[0]).toMatch(
      /^fail 203\.0\.113\.7 has no reverse name .* → ask the provider of/,
    );
    publishZones({ [OUR_PTR]: { PTR: [OUR_NAME] }, [OUR_NAME]: { A: ['203.0.113.8'] } });
    expect((await runEmailChecks()).of('PTR and HELO')).toEqual([
      expect.stringMatching(
        /^fail 203\.0\.113\.7 has the reverse name mail\.example\.com, which does not resolve to 203\.0\.113\.7/,
      ),
      expect.stringMatching(
        /^warn the mail server calls itself mail\.example\.com, which does not resolve to 203\.0\.113\.7/,
      ),
    ]);
  });

  it('fails for a server without a fully qualified host name', async () => {
    publishZones({ [OUR_PTR]: { PTR: [OUR_NAME] }, [OUR_NAME]: { A: [OURS] } });
    const local = await startScriptedSmtp(createAcceptingScript(), '220 localhost ESMTP');
    const { of } = await runEmailChecks({ SMTP_URL: local.url });
    await local.close();
    expect(of('PTR and HELO')).toContainEqual(expect.stringMatching(/^fail the mail server calls itself localhost/));
  });

  it.runIf(!hasPublicAddress())('asks for --address if it cannot determine its public address', async () => {
    const { of } = await runEmailChecks({}, []);
    expect(of('PTR and HELO')).toEqual([expect.stringMatching(/^warn .* → give the address that sends email/)]);
  });

  it('refuses an invalid --address', async () => {
    const { output, exitCode } = await runDoctor({}, ['--address', 'mail.example.com']);
    expect([output, exitCode]).toEqual([expect.stringMatching(/^--address takes the public IP address/), 2]);
  });

  it('refuses an unknown option', async () => {
    const { output, exitCode } = await runDoctor({}, ['--adress', OURS]);
    expect([output, exitCode]).toEqual([expect.stringMatching(/^Usage: npm run doctor/), 2]);
  });

  it('skips the check for SES, where Amazon sends the email', async () => {
    const { of } = await runEmailChecks({
      EMAIL_PROVIDER: 'ses',
      SES_REGION: 'eu-west-1',
      SES_ENDPOINT: 'http://127.0.0.1:1',
    });
    expect(of('PTR and HELO')).toEqual([expect.stringMatching(/^pass Amazon/)]);
    expect(of('port 25 out')).toEqual([expect.stringMatching(/^pass not needed/)]);
  });
});

describe('doctor, on outgoing connections to port 25,', () => {
  const publishReceivers = () => {
    for (const domain of ['gmail.com', 'outlook.com'])
      publishZones({ [domain]: { MX: [`10 mx.${domain}`] }, [`mx.${domain}`]: { A: [RECEIVER] } });
  };

  it('warns if it cannot connect to any receiver', async () => {
    publishReceivers();
    expect((await runEmailChecks()).of('port 25 out')).toEqual([
      expect.stringMatching(
        /^warn no receiver is reachable: mx\.gmail\.com could not be reached .*ECONNREFUSED.* → ask the provider/,
      ),
    ]);
  });

  it.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
    'passes if it can connect to a receiver',
    async () => {
      publishReceivers();
      const server = await listenAt(RECEIVER, 25);
      const { of } = await runEmailChecks();
      server.close();
      expect(of('port 25 out')).toEqual(['pass receivers are reachable']);
    },
  );
});

function hasPublicAddress(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ address }) => isPublicAddress(address)),
  );
}

function listenAt(host: string, port: number): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => {}).end());
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => resolve(server));
  });
}
