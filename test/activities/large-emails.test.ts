import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMailer } from '../../activities/emails/mailer.ts';
import { createSmtpProvider } from '../../channels/email/smtp/provider.ts';
import { type Compute, createCompute } from '../../compute/compute.ts';
import { createThreads } from '../../compute/threads.ts';
import { createSuppressionPads } from '../../db/contacts/suppressions.ts';
import { insertAttachments } from '../../db/contents/attachments.ts';
import { claimEmails } from '../../db/sending/email-ledger.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { parseConfig } from '../../rules/config.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { buildEmail } from '../build/emails.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp/smtp-sink.ts';

const DELIVERY = '0190a000-0000-7000-8000-00000000d001';
const MB = 1024 * 1024;
/** A budget so small that the first large email uses it up for minutes. The second one is refused at once. */
const SCANT = 1;
const pads = createSuppressionPads(deriveKey(TEST_SECRET_KEY, 'suppression'));

let database: TestDatabase;
let sink: SmtpSink;
let provider: ReturnType<typeof createSmtpProvider>;
let one: Tenant;
let two: Tenant;
const computes: Compute[] = [];

interface Tenant {
  projectId: string;
  publicKey: string;
}

beforeAll(async () => {
  database = await createTestDatabase();
  sink = await startSmtpSink({ keepBodies: true });
  provider = createSmtpProvider({ url: sink.url });
});
afterAll(async () => {
  await Promise.all(computes.map((compute) => compute.close()));
  await provider.close();
  await sink.close();
  await database.drop();
});
beforeEach(async () => {
  one = await buildTenant('one.example.com');
  two = await buildTenant('two.example.com');
  sink.reset();
});

async function buildTenant(domain: string): Promise<Tenant> {
  const { id: projectId } = await buildProject(database.db, domain);
  const { publicKey } = await buildDomain(database.db, { projectId, domain });
  return { projectId, publicKey };
}

function createTestMailer(p: { cpuMsPerSecond?: number; hardLimitMs?: number }) {
  const threads = p.hardLimitMs === undefined ? undefined : createThreads({ hardLimitMs: p.hardLimitMs });
  const compute = createCompute({ cpuMsPerSecond: p.cpuMsPerSecond ?? 0, ...(threads && { threads }) });
  computes.push(compute);
  const config = parseConfig({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    SECRET_KEY: TEST_SECRET_KEY,
    EMAIL_PROVIDER: 'smtp',
    SMTP_URL: sink.url,
    PUBLIC_URL: 'https://mail.example.com',
  });
  const outbox = { wake: () => {} };
  return createMailer({
    config,
    compute,
    db: database.db,
    provider,
    outbox,
    log: { warn: () => {} },
    endLog: () => {},
  });
}

/** Builds an email with these files. */
async function buildLargeEmail({ projectId }: Tenant, domain: string, files: Buffer[]): Promise<string> {
  const rows = files.map((content, n) => ({
    id: uuidv7(),
    projectId,
    filename: `${n}.bin`,
    contentType: 'application/octet-stream',
    disposition: 'attachment' as const,
    contentId: null,
    content,
  }));
  await insertAttachments(database.db, rows);
  const options = { attachmentIds: rows.map(({ id }) => id) };
  return buildEmail(database.db, { projectId, from: `hello@${domain}`, options });
}

async function claimEmail({ projectId }: Tenant, id: string) {
  const emails = [{ id, deliveryId: DELIVERY }];
  const [email] = await claimEmails(database.db, { projectId, emails, suppressionPads: pads });
  if (!email) throw new Error('not claimed');
  return email;
}

const readEmail = (id: string) =>
  database.db.selectFrom('emails').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

describe('an email with large files', () => {
  it('arrives with unchanged files, signed by its domain', async () => {
    const files = [3 * MB + 1, 256 * 1024, 5].map((n) =>
      Buffer.from(Array.from({ length: n }, (_, i) => (i * 7) % 256)),
    );
    const id = await buildLargeEmail(one, 'one.example.com', files);
    const { outcome } = await createTestMailer({}).deliver(await claimEmail(one, id));
    expect(outcome.kind).toBe('accepted');
    const raw = Buffer.from(sink.bodies[0] ?? '', 'latin1');
    const { attachments, messageId } = await PostalMime.parse(raw);
    expect(attachments.map(({ content }) => Buffer.from(content as ArrayBuffer).equals(files.shift() ?? raw))).toEqual([
      true,
      true,
      true,
    ]);
    expect(messageId).toBe(`<${id}@one.example.com>`);
    const { results } = await dkimVerify(raw, { resolver: async () => [[`v=DKIM1; k=rsa; p=${one.publicKey}`]] });
    expect(results.map(({ status }) => status.result)).toEqual(['pass']);
  });

  it("is not claimed while its project's budget is used up; small emails and other projects' emails are sent", async () => {
    const mailer = createTestMailer({ cpuMsPerSecond: SCANT });
    const buildEmailOfOneMegabyte = () => buildLargeEmail(one, 'one.example.com', [Buffer.alloc(MB)]);
    const [first, second, small] = [
      await buildEmailOfOneMegabyte(),
      await buildEmailOfOneMegabyte(),
      await buildLargeEmail(one, 'one.example.com', [Buffer.alloc(9)]),
    ];
    const others = await buildLargeEmail(two, 'two.example.com', [Buffer.alloc(MB)]);
    expect((await mailer.deliver(await claimEmail(one, first))).outcome.kind).toBe('accepted');
    const { outcome, recorded } = await mailer.deliver(await claimEmail(one, second));
    expect({ kind: outcome.kind, recorded }).toEqual({ kind: 'throttled', recorded: false });
    expect(await readEmail(second)).toMatchObject({ status: 'PENDING', claim: null, attempts: 0 });
    expect((await mailer.deliver(await claimEmail(one, small))).outcome.kind).toBe('accepted');
    expect((await mailer.deliver(await claimEmail(two, others))).outcome.kind).toBe('accepted');
    expect(sink.messages).toHaveLength(3);
  });

  it('uses no budget of its project if it is refused before it is composed', async () => {
    const mailer = createTestMailer({ cpuMsPerSecond: SCANT });
    const [refused, next] = [
      await buildLargeEmail(one, 'nobody.example.com', [Buffer.alloc(MB)]),
      await buildLargeEmail(one, 'one.example.com', [Buffer.alloc(MB)]),
    ];
    expect((await mailer.deliver(await claimEmail(one, refused))).outcome.kind).toBe('failed');
    expect((await mailer.deliver(await claimEmail(one, next))).outcome.kind).toBe('accepted');
  });

  it('is retried with the same Message-ID if the thread that composes it ends', async () => {
    const id = await buildLargeEmail(one, 'one.example.com', [Buffer.alloc(2 * MB)]);
    const { outcome } = await createTestMailer({ hardLimitMs: 1 }).deliver(await claimEmail(one, id));
    expect(outcome).toMatchObject({ kind: 'deferred' });
    expect(sink.messages).toHaveLength(0);
    expect(await readEmail(id)).toMatchObject({ status: 'SENDING', claim: null });
    expect((await createTestMailer({}).deliver(await claimEmail(one, id))).outcome.kind).toBe('accepted');
    expect(sink.messages.map(({ messageId }) => messageId)).toEqual([`<${id}@one.example.com>`]);
  });
});

describe('large emails of a project', () => {
  it('are in memory two at a time, and do not delay emails of another project', async () => {
    const compute = createCompute({ cpuMsPerSecond: 0 });
    computes.push(compute);
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const startHeldWork = (projectId: string) =>
      compute.runLargeEmail({ projectId, kind: 'test' }, MB, () => {
        begun.push(projectId);
        return new Promise<void>((resolve) => ends.push(resolve));
      });
    const all = ['a', 'a', 'a', 'b'].map(startHeldWork);
    await Promise.resolve();
    expect(begun).toEqual(['a', 'a', 'b']);
    for (let n = 0; n < all.length; n += 1) {
      ends[n]?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(all);
    expect(begun).toEqual(['a', 'a', 'b', 'a']);
  });
});
