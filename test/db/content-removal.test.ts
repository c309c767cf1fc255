import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertCampaign } from '../../db/campaigns/campaigns.ts';
import { saveContent } from '../../db/contents/contents.ts';
import { isUnusedContentSql, removeErasedContents } from '../../db/contents/removal.ts';
import { startCampaign } from '../../engine/campaigns/lifecycle.ts';
import { recordReceivedEmail } from '../../engine/feedback/inbound-email.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { NO_TEXT } from '../../rules/content/email-text.ts';
import { buildContacts } from '../build/campaigns.ts';
import { buildDomain, TEST_SECRET_KEY } from '../build/senders.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createCampaignWorker } from '../support/campaign-worker.ts';
import { pruneTables } from '../support/periodic.ts';
import { until } from '../support/until.ts';

const FROM = 'hello@shop.example.com';
const suppressionKey = deriveKey(TEST_SECRET_KEY, 'suppression');
let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id });
});
afterAll(() => api.close());

const createAddress = () => `${uuidv7()}@example.com`;
type Sent = { email: string; contact: { id: string; email: string } };

async function send(body: object): Promise<Sent[]> {
  const response = await api.call('POST', '/v1/send', { body: { from: FROM, ...body } });
  expect(response.status).toBe(200);
  return response.body.data.emails;
}
async function erase(...emails: (Sent | undefined)[]): Promise<void> {
  for (const email of emails) expect((await api.call('DELETE', `/contacts/${email?.contact.id}`)).status).toBe(204);
}
/**
 * Prunes until no content is retired. One pruning may not be enough: a transaction may keep rows, and the API may be
 * writing its log of requests.
 */
const prune = () => pruneUntil((retired) => retired === 0);
/** Prunes as far as an open transaction permits. */
const retireContents = () => pruneUntil((retired) => retired > 0);

async function pruneUntil(isEnough: (retired: number) => boolean): Promise<void> {
  await until(async () => {
    await pruneTables(api.db);
    const { rows } = await sql`SELECT FROM erased_contents WHERE retired_at IS NOT NULL`.execute(api.db);
    return isEnough(rows.length);
  }, 'contents to be retired or removed');
}
const readSubject = async (email: Sent | undefined) =>
  (await api.call('GET', `/v1/emails/${email?.email}`)).body.data.subject;

/** Returns the number of stored contents with this word. */
async function countStored(word: string): Promise<number> {
  const { rows } = await sql`SELECT FROM contents WHERE subject || body || from_email LIKE ${`%${word}%`}`.execute(
    api.db,
  );
  return rows.length;
}
/** Returns the number of contents that wait for a check. */
async function countErasedContents(): Promise<number> {
  return (await sql`SELECT FROM erased_contents`.execute(api.db)).rows.length;
}
async function countEmailsWithoutContent(): Promise<number> {
  return (
    await sql`SELECT FROM emails e WHERE NOT EXISTS (SELECT FROM contents k WHERE k.id = e.content_id)`.execute(api.db)
  ).rows.length;
}

describe('the content of emails to erased contacts', () => {
  it('is deleted by the next pruning, and the record of the email stays', async () => {
    const [mail] = await send({ to: createAddress(), subject: 'For Ada', body: '<p>Dear Ada Lovelace</p>' });
    await prune();
    expect(await countStored('Lovelace')).toBe(1);
    await erase(mail);
    expect(await countStored('Lovelace')).toBe(1);
    await prune();
    expect([await countStored('Lovelace'), await countErasedContents(), await countEmailsWithoutContent()]).toEqual([
      0, 0, 0,
    ]);
    expect(await readSubject(mail)).toBe('');
  });

  it('is deleted from its cc and bcc copies, which keep their recipients and are never sent again', async () => {
    const data = { name: 'Byron' };
    const [mail, cc, bcc] = await send({
      to: createAddress(),
      cc: createAddress(),
      bcc: createAddress(),
      subject: 'S',
      body: '<p>Ada Byron</p>',
      data,
    });
    await erase(mail);
    await prune();
    expect([await countStored('Byron'), await countEmailsWithoutContent()]).toEqual([0, 0]);
    for (const copy of [cc, bcc]) {
      const record = (await api.call('GET', `/v1/emails/${copy?.email}`)).body.data;
      expect(record).toMatchObject({
        to: copy?.contact.email,
        status: 'FAILED',
        reason: 'contact_deleted',
        subject: '',
      });
      const resent = await api.call('POST', `/v1/emails/${copy?.email}/resend`);
      expect([resent.status, resent.body.error.message]).toEqual([409, expect.stringContaining('erased contact')]);
    }
    const { rows } = await sql`SELECT FROM emails WHERE variables::text LIKE '%Byron%'`.execute(api.db);
    expect(rows).toHaveLength(0);
  });

  it("stays while another contact's email uses the same content, and is deleted with the last one", async () => {
    const [first, second] = await send({
      to: [createAddress(), createAddress()],
      subject: 'Shared',
      body: '<p>Shared words</p>',
    });
    await erase(first);
    await prune();
    expect([await countStored('Shared words'), await countErasedContents(), await readSubject(second)]).toEqual([
      1,
      0,
      'Shared',
    ]);
    // The content keeps its hash, so the next email with equal content shares it.
    const [third] = await send({ to: createAddress(), subject: 'Shared', body: '<p>Shared words</p>' });
    expect(await countStored('Shared words')).toBe(1);
    await erase(second, third);
    await prune();
    expect([await countStored('Shared words'), await countErasedContents()]).toEqual([0, 0]);
  });

  it('is deleted if the erased person wrote it', async () => {
    const email = {
      sender: 'ada@home.example',
      fromName: 'Ada',
      subject: 'Hi',
      html: '<p>Yours, Countess</p>',
      messageId: 'm1',
      digest: Buffer.alloc(32),
    };
    const received = { ...email, recipients: [FROM], files: [], detail: {} };
    await api.db
      .transaction()
      .execute((trx) => recordReceivedEmail(trx, { projectId: api.one.id, suppressionKey, email: received }));
    const { body } = await api.call('POST', '/contacts/lookup', { body: { emails: [email.sender] } });
    await erase({ email: '', contact: body.found[0] });
    await prune();
    expect([await countStored('Countess'), await countStored('ada@home'), await countErasedContents()]).toEqual([
      0, 0, 0,
    ]);
  });

  it('stays in templates and campaigns, although an email had the same text', async () => {
    const words = { subject: 'Common', body: '<p>Common words</p>' };
    const template = { ...words, name: 't', type: 'TRANSACTIONAL', from: FROM };
    const { body: saved } = await api.call('POST', '/templates', { body: template });
    const campaign = { ...NO_TEXT, ...words, name: 'c', description: null, from: FROM };
    const content = { ...campaign, audienceType: 'ALL' as const, segmentId: null, audienceFilter: null };
    const [{ id }] = [
      await api.db.transaction().execute((trx) => insertCampaign(trx, { projectId: api.one.id, content })),
    ];
    await buildContacts(api.db, { projectId: api.one.id, count: 2 });
    const { id: projectId } = api.one;
    await api.db.transaction().execute((trx) => startCampaign(trx, { projectId, id, at: null, mode: 'live' }));
    const worker = createCampaignWorker({ db: api.db, smtpUrl: 'smtp://127.0.0.1:1' });
    await worker.read({ projectId, campaignId: id, sendNo: 1 });
    await worker.take({ projectId, campaignId: id, sendNo: 1 });
    await worker.close();

    const [own] = await send({ to: createAddress(), ...words });
    const [ofTemplate] = await send({ to: createAddress(), template: saved.id });
    expect(await countStored('Common words')).toBe(3);
    await erase(own, ofTemplate);
    await prune();
    expect([await countStored('Common words'), await countErasedContents(), await countEmailsWithoutContent()]).toEqual(
      [2, 0, 0],
    );
    expect(await readSubject(ofTemplate)).toBe('Common');
  });
});

describe('accepting an email while its content is removed', () => {
  const words = { subject: 'Raced', body: '<p>Raced words</p>' };
  const content = { ...NO_TEXT, projectId: '', ...words, type: 'TRANSACTIONAL' as const, from: FROM, templateId: null };
  const insert = (contentId: string) => sql`
    INSERT INTO emails (project_id, content_id, source_type) VALUES (${api.one.id}, ${contentId}, 'TRANSACTIONAL')`;

  it('keeps content that it found before the removal', async () => {
    const [old] = await send({ to: createAddress(), ...words });
    let found = '';
    await api.db.transaction().execute(async (trx) => {
      found = await saveContent(trx, { ...content, projectId: api.one.id });
      await erase(old);
      // The content is removed after the email's statement has found it and before the email is inserted.
      await retireContents();
      expect([await countStored('Raced words'), await countErasedContents()]).toEqual([1, 1]);
      await insert(found).execute(trx);
    });
    await prune();
    expect([await countStored('Raced words'), await countErasedContents(), await countEmailsWithoutContent()]).toEqual([
      1, 0, 0,
    ]);
    // The content waits for its removal, so the next email with the same text stores a new content.
    await send({ to: createAddress(), ...words });
    expect(await countStored('Raced words')).toBe(2);
  });

  it('stores the content again if it finds none', async () => {
    const [old] = await send({ to: createAddress(), subject: 'Late', body: '<p>Late words</p>' });
    await erase(old);
    await api.db.transaction().execute(async (trx) => {
      await sql`SELECT 1`.execute(trx);
      await retireContents();
      const found = await saveContent(trx, {
        ...content,
        projectId: api.one.id,
        subject: 'Late',
        body: '<p>Late words</p>',
      });
      await insert(found).execute(trx);
    });
    // The old content stays until the concurrent transaction has ended.
    expect(await countStored('Late words')).toBe(2);
    await prune();
    expect([await countStored('Late words'), await countErasedContents(), await countEmailsWithoutContent()]).toEqual([
      1, 0, 0,
    ]);
  });

  it('never loses the content, whatever is sent, erased and pruned concurrently', async () => {
    const same = { subject: 'Busy', body: '<p>Busy words</p>' };
    let working = true;
    const removeUntilDone = async () => {
      while (working) await removeErasedContents(api.db);
    };
    const sendAndErase = async () => {
      for (let n = 0; n < 30; n++) await erase(...(await send({ to: createAddress(), ...same })));
    };
    const keeping = [removeUntilDone(), removeUntilDone()];
    await Promise.all([sendAndErase(), sendAndErase(), sendAndErase()]).finally(() => {
      working = false;
    });
    await Promise.all(keeping);
    expect(await countEmailsWithoutContent()).toBe(0);
    const [last] = await send({ to: createAddress(), ...same });
    expect(await readSubject(last)).toBe('Busy');
    await erase(last);
    await prune();
    expect([await countStored('Busy words'), await countErasedContents(), await countEmailsWithoutContent()]).toEqual([
      0, 0, 0,
    ]);
  });
});

describe('one pruning of content', () => {
  it('has a limit of removed rows', async () => {
    for (let n = 0; n < 5; n++)
      await erase(...(await send({ to: createAddress(), subject: 'Many', body: `<p>Many words ${n}</p>` })));
    const removed: number[] = [];
    // Pruning removes nothing while the log of requests is being written.
    await until(async () => {
      removed.push(await removeErasedContents(api.db, { rows: 2, rounds: 1 }));
      return (await countErasedContents()) === 0;
    }, 'the removal of all of them');
    expect(removed.every((gone) => gone <= 2)).toBe(true);
    expect([
      removed.reduce((sum, gone) => sum + gone, 0),
      await countStored('Many words'),
      await countErasedContents(),
    ]).toEqual([5, 0, 0]);
  });

  it('finds the emails with a content by an index', async () => {
    const { rows: contents } = await sql<{ id: string }>`
      INSERT INTO contents (project_id, hash, subject, body, type, from_email)
      SELECT ${api.two.id}, sha256(n::text::bytea), '', n::text, 'TRANSACTIONAL', '' FROM generate_series(1, 3000) n RETURNING id
    `.execute(api.db);
    const ids = contents.map((row) => row.id);
    await sql`
      INSERT INTO emails (project_id, content_id, source_type)
      SELECT ${api.two.id}, unnest(${ids}::uuid[]), 'TRANSACTIONAL' FROM generate_series(1, 10)`.execute(api.db);
    await sql`ANALYZE emails, contents`.execute(api.db);
    const plan = await sql<{ 'QUERY PLAN': string }>`
      EXPLAIN DELETE FROM contents k WHERE k.id = ANY(${ids.slice(0, 100)}::uuid[])
        AND ${isUnusedContentSql}`.execute(api.db);
    const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('emails_one_off_content');
    expect(text).not.toContain('Seq Scan');
  });
});
