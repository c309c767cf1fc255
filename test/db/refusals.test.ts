import fc from 'fast-check';
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withheldReasonSql } from '../../db/campaigns/withheld.ts';
import { findSuppressionFor } from '../../db/contacts/suppressions.ts';
import { upsertContacts } from '../../db/contacts/upsert.ts';
import { type ClaimedEmail, claimEmails } from '../../db/sending/email-ledger.ts';
import { setSmsConsent } from '../../db/sms/ledger.ts';
import { canSendSms } from '../../db/sms/messages.ts';
import { listContactTopics } from '../../db/topics/contact-topics.ts';
import { listAddressTopics } from '../../db/topics/topic-refusals.ts';
import { inTransaction } from '../../db/transaction.ts';
import { deleteContacts } from '../../engine/contacts/delete-contacts.ts';
import { patchContact } from '../../engine/contacts/patch-contact.ts';
import {
  runForLinkSubject,
  setTopicsByLink,
  subscribeByLink,
  unsubscribeByLink,
} from '../../engine/contacts/subscription-links.ts';
import { trackEvents } from '../../engine/events/track.ts';
import { recordFeedback } from '../../engine/feedback/email-feedback.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { computeAddressHash, padHmacKey } from '../../rules/emails/suppression.ts';
import { decideWithholding } from '../../rules/emails/withheld.ts';
import { buildEmail } from '../build/emails.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** The number of sequences, and the number of steps in each. Together they take about 10 s of real statements. */
const RUNS = 50;
const STEPS = 14;
const ADDRESSES = ['a@law.test', 'b@law.test', 'c@law.test'] as const;
const PHONES = ['+4915100000001', '+4915100000002'] as const;
const SENDER = '+4930111111';

const key = deriveKey(TEST_SECRET_KEY, 'suppression');
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

type Step =
  | {
      do:
        | 'add'
        | 'addSubscribed'
        | 'import'
        | 'track'
        | 'trackWithPublicKey'
        | 'refuseWithPublicKey'
        | 'erase'
        | 'email'
        | 'writeTopic';
      address: number;
    }
  | { do: 'move'; address: number; to: number }
  | { do: 'refuse' | 'complain' | 'resubscribe' | 'confirm' | 'leaveTopic' | 'joinTopic'; email: number }
  | { do: 'stop' | 'start'; phone: number };

const address = fc.nat(ADDRESSES.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constantFrom(
      'add',
      'addSubscribed',
      'import',
      'track',
      'trackWithPublicKey',
      'refuseWithPublicKey',
      'erase',
      'email',
      'writeTopic',
    ),
    address,
  }),
  fc.record({ do: fc.constant('move' as const), address, to: address }),
  fc.record({
    do: fc.constantFrom('refuse', 'complain', 'resubscribe', 'confirm', 'leaveTopic', 'joinTopic'),
    email: fc.nat(5),
  }),
  fc.record({ do: fc.constantFrom('stop', 'start'), phone: fc.nat(PHONES.length - 1) }),
) as fc.Arbitrary<Step>;

/**
 * A project in which the generated steps are done. It remembers the last statement of the person at each address and
 * number.
 */
class World {
  readonly projectId = uuidv7();
  /** Sent emails, and the addresses that they were sent to. */
  private readonly emails: { id: string; address: string }[] = [];
  /**
   * Tells for each address or number whether its person's last statement was a refusal. An address without a statement
   * is missing.
   */
  private readonly refused = new Map<string, boolean>();
  /** The number of reported complaints. Each complaint has a later time than the previous one. */
  private reports = 0;
  private readonly topicId = uuidv7();
  /** Tells for each address whether its person's last choice was to leave the topic. */
  private readonly left = new Map<string, boolean>();

  /**
   * @param isOpen whether the public key counts as much as a secret key; it lifts no refusal of a person even then
   * @param asksFirst whether contacts of the public key get marketing only after they confirm (double opt-in)
   */
  async create(isOpen: boolean, asksFirst: boolean): Promise<void> {
    await sql`
      INSERT INTO projects (id, name, public_key, public_key_hash, public_key_open)
      VALUES (${this.projectId}, 'p', ${this.projectId}, ${Buffer.from(this.projectId)}, ${isOpen})`.execute(
      database.db,
    );
    await database.db
      .insertInto('sms_senders')
      .values({ project_id: this.projectId, country: null, from_phone: SENDER })
      .execute();
    await this.createTopic();
    if (asksFirst) await this.askFirst();
  }

  private async askFirst(): Promise<void> {
    const [id, project_id] = [uuidv7(), this.projectId];
    const text = { subject: 'Confirm', body: '<a href="{{confirmUrl}}">Confirm</a>', from_email: 'shop@law.test' };
    await database.db
      .insertInto('templates')
      .values({ id, project_id, name: 'Confirm', slug: 'confirm', type: 'TRANSACTIONAL', ...text })
      .execute();
    const setting = { double_opt_in: true, double_opt_in_template_id: id };
    await database.db.updateTable('projects').set(setting).where('id', '=', project_id).execute();
  }

  private async createTopic(): Promise<void> {
    const [id, project_id] = [this.topicId, this.projectId];
    await database.db
      .insertInto('topics')
      .values({ id, project_id, name: 'News', slug: 'news', default_subscribed: true })
      .execute();
  }

  async run(step: Step): Promise<void> {
    if ('phone' in step) return this.say(PHONES[step.phone] ?? PHONES[0], step.do === 'stop');
    if ('email' in step) {
      const email = this.emails.at(-1 - step.email);
      if (step.do === 'confirm') return this.confirm(step.email);
      if (step.do === 'leaveTopic' || step.do === 'joinTopic') return this.choose(email, step.do === 'joinTopic');
      return this.report(step.do, email);
    }
    const email = ADDRESSES[step.address] ?? ADDRESSES[0];
    switch (step.do) {
      case 'erase':
        return this.erase(email);
      case 'move':
        return this.move(email, ADDRESSES[step.to] ?? ADDRESSES[0]);
      case 'email':
        return this.send(email);
      case 'writeTopic':
        return this.writeTopic(email);
      case 'track':
      case 'trackWithPublicKey':
      case 'refuseWithPublicKey':
        return this.track(email, step.do);
      default:
        return this.add(email, step.do);
    }
  }

  private async add(email: string, how: 'add' | 'addSubscribed' | 'import'): Promise<void> {
    const subscribed = how === 'add' ? undefined : true;
    const set = { phone: PHONES[email === ADDRESSES[0] ? 0 : 1] };
    await inTransaction(database.db, (trx) =>
      upsertContacts(trx, {
        projectId: this.projectId,
        rows: [{ email, subscribed, set, remove: [], by: 'project' }],
        defaultSubscribed: true,
        suppressionKey: key,
        liftsUnsubscribe: how !== 'import',
        causeId: null,
      }),
    );
    // The project may record that a person consents to email again, but it cannot revoke a complaint.
    if (how === 'addSubscribed' && !(await this.hasComplaint(email))) this.refused.set(email, false);
  }

  private async hasComplaint(email: string): Promise<boolean> {
    const reason = await findSuppressionFor(database.db, key, { projectId: this.projectId, email, type: 'MARKETING' });
    return reason === 'complaint';
  }

  private async track(email: string, how: 'track' | 'trackWithPublicKey' | 'refuseWithPublicKey'): Promise<void> {
    const untrusted = how !== 'track';
    const subscribed = how === 'trackWithPublicKey';
    const owner = { name: 'public', public: untrusted, scopes: new Set<string>() };
    await inTransaction(database.db, (trx) =>
      trackEvents(trx, {
        projectId: this.projectId,
        untrusted,
        mode: 'live',
        requests: [{ email, event: 'e', ...(untrusted && { subscribed }), owner }],
        suppressionKey: key,
      }),
    );
  }

  private async contact(email: string): Promise<string | undefined> {
    const query = database.db.selectFrom('contacts').select('id').where('project_id', '=', this.projectId);
    return (await query.where('email', '=', email).executeTakeFirst())?.id;
  }

  private async erase(email: string): Promise<void> {
    const id = await this.contact(email);
    if (id === undefined) return;
    const p = { projectId: this.projectId, ids: [id], suppressionKey: key };
    await inTransaction(database.db, (trx) => deleteContacts(trx, p));
  }

  /**
   * The contact's address changes because the person's address changed, so the person's statements at the old address
   * apply to the new one.
   */
  private async move(from: string, to: string): Promise<void> {
    const id = await this.contact(from);
    if (id === undefined || (await this.contact(to)) !== undefined) return;
    const p = { projectId: this.projectId, id, email: to, untrustedTrigger: false, causeId: null, suppressionKey: key };
    await inTransaction(database.db, (trx) => patchContact(trx, p));
    if (this.refused.get(from)) this.refused.set(to, true);
    if (this.left.get(from)) this.left.set(to, true);
  }

  private async send(email: string): Promise<void> {
    const contactId = await this.contact(email);
    if (contactId === undefined) return;
    const id = await buildEmail(database.db, {
      projectId: this.projectId,
      contactId,
      to: email,
      type: 'MARKETING',
      status: 'SENT',
    });
    this.emails.push({ id, address: email });
  }

  private async report(
    what: 'refuse' | 'complain' | 'resubscribe',
    email: { id: string; address: string } | undefined,
  ) {
    if (!email) return;
    const refuses = await inTransaction(database.db, async (trx) => {
      const token = { kind: 'email' as const, id: email.id };
      if (what === 'complain') {
        this.reports += 1;
        const feedback = { kind: 'complaint' as const, at: new Date(Date.now() + this.reports) };
        const report = { emailId: email.id, feedback, suppressionKey: key, source: 'arf' };
        return (await recordFeedback(trx, report)).outcome !== 'unknown';
      }
      const change: Parameters<typeof runForLinkSubject>[2]['change'] =
        what === 'refuse' ? (inner, subject) => unsubscribeByLink(inner, key, subject) : subscribeByLink;
      await runForLinkSubject(trx, key, { token, change });
      return what === 'refuse';
    });
    if (refuses) this.refused.set(email.address, true);
    if (what === 'resubscribe') this.refused.clear();
  }

  /** The person opens the link of the nth confirmation email, which may be an old one. */
  private async confirm(nth: number): Promise<void> {
    const { rows } = await sql<{ id: string }>`
      SELECT email_id AS id FROM confirmations WHERE project_id = ${this.projectId} ORDER BY email_id DESC LIMIT 1 OFFSET ${nth}
    `.execute(database.db);
    const [email] = rows;
    if (!email) return;
    const token = { kind: 'email' as const, id: email.id };
    await inTransaction(database.db, (trx) => runForLinkSubject(trx, key, { token, change: subscribeByLink }));
    this.refused.clear();
  }

  /** The person changes the topic on the page that a link of an email opens. */
  private async choose(email: { id: string; address: string } | undefined, joins: boolean): Promise<void> {
    if (!email) return;
    const token = { kind: 'email' as const, id: email.id };
    const topics = { [this.topicId]: joins };
    await inTransaction(database.db, (trx) =>
      runForLinkSubject(trx, key, { token, change: (inner, subject) => setTopicsByLink(inner, subject, topics) }),
    );
    if (joins) this.left.clear();
    else this.left.set(email.address, true);
  }

  /** The project may record that the person consents to the topic again. */
  private async writeTopic(email: string): Promise<void> {
    const id = await this.contact(email);
    if (id === undefined) return;
    const p = { projectId: this.projectId, id, topics: { [this.topicId]: true }, suppressionKey: key };
    await inTransaction(database.db, (trx) => patchContact(trx, { ...p, untrustedTrigger: false, causeId: null }));
    this.left.set(email, false);
  }

  private async isOnTopic(email: string): Promise<boolean> {
    const { projectId } = this;
    const contactId = await this.contact(email);
    const hashes = [computeAddressHash(key, email)];
    const topics = contactId
      ? await listContactTopics(database.db, { projectId, contactId })
      : await listAddressTopics(database.db, { projectId, hashes });
    return topics.some(({ joined }) => joined);
  }

  private async say(phone: string, stop: boolean): Promise<void> {
    await inTransaction(database.db, (trx) => setSmsConsent(trx, key, { phone, sender: SENDER, consents: !stop }));
    this.refused.set(phone, stop);
  }

  /** Returns contacts whose last statement was a refusal, and that would still get marketing or count as subscribed. */
  async broken(): Promise<string[]> {
    const { projectId } = this;
    const found: string[] = [];
    for (const email of ADDRESSES.filter((one) => this.refused.get(one))) {
      const query = database.db.selectFrom('contacts').select('subscribed').where('project_id', '=', projectId);
      const contact = await query.where('email', '=', email).executeTakeFirst();
      const stopped = await findSuppressionFor(database.db, key, { projectId, email, type: 'MARKETING' });
      // Subscribing a contact with a complaint changes `subscribed`, but the contact still gets no marketing.
      if (stopped === undefined || (contact?.subscribed && stopped !== 'complaint')) found.push(email);
    }
    for (const email of ADDRESSES.filter((one) => this.left.get(one)))
      if (await this.isOnTopic(email)) found.push(`the topic of ${email}`);
    for (const phone of PHONES.filter((one) => this.refused.get(one))) {
      const smsQuery = { pads: padHmacKey(key), projectId, contactId: uuidv7(), from: '+4930222222', marketing: true };
      if (await canSendSms(database.db, { ...smsQuery, to: { e164: phone, country: 'DE' } })) found.push(phone);
    }
    return found;
  }

  /** Returns the ways of sending by which marketing would reach contacts whose last statement was a refusal. */
  async listReached(): Promise<string[]> {
    const reached: string[] = [];
    for (const email of ADDRESSES.filter((one) => this.refused.get(one)))
      for (const way of await this.waysTo(email)) reached.push(`${email} by ${way}`);
    return reached;
  }

  /** Returns the ways of sending by which marketing would now reach the contact with this address. */
  async waysTo(email: string): Promise<string[]> {
    const { projectId } = this;
    const contactId = await this.contact(email);
    if (contactId === undefined) return [];
    const sources = ['TRANSACTIONAL', 'WORKFLOW', 'CAMPAIGN'] as const;
    const emails = [];
    for (const sourceType of sources)
      for (const to of [email, null]) {
        const message = { projectId, contactId, to, sourceType, type: 'MARKETING' as const };
        emails.push({ id: await buildEmail(database.db, message), deliveryId: uuidv7() });
      }
    const claimed = await claimEmails(database.db, { projectId, emails, suppressionPads: padHmacKey(key) });
    expect(claimed).toHaveLength(emails.length);
    const byEmail = claimed.filter((message) => !/^(?:suppressed|unsubscribed|unconfirmed)/.test(findReason(message)));
    const withheld = withheldReasonSql({
      projectId,
      pads: padHmacKey(key),
      subscribed: sql`subscribed`,
      email: sql`email`,
    });
    const { rows } = await sql<{ reason: string | null }>`
      SELECT ${withheld} AS reason FROM contacts WHERE project_id = ${projectId} AND id = ${contactId}`.execute(
      database.db,
    );
    return [...byEmail.map(({ sourceType }) => sourceType), ...(rows[0]?.reason === null ? ['audience'] : [])];
  }
}

function findReason(email: ClaimedEmail): string {
  const withheld = decideWithholding(email);
  return withheld && 'reason' in withheld ? String(withheld.reason) : '';
}

/** Sequences that random generation rarely finds. */
const RARE: Step[][] = [
  // An email is sent to address 0, then the contact changes to address 1. The reader of the email leaves the topic, and
  // another contact gets address 0.
  [
    { do: 'add', address: 0 },
    { do: 'email', address: 0 },
    { do: 'move', address: 0, to: 1 },
    { do: 'leaveTopic', email: 0 },
    { do: 'add', address: 0 },
  ],
  // A contact that joined the topic gets an address from which an earlier contact left the topic.
  [
    { do: 'add', address: 0 },
    { do: 'email', address: 0 },
    { do: 'leaveTopic', email: 0 },
    { do: 'erase', address: 0 },
    { do: 'add', address: 1 },
    { do: 'writeTopic', address: 1 },
    { do: 'move', address: 1, to: 0 },
  ],
];

it('no contact whose last statement was a refusal gets marketing, after any sequence of actions', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      fc.boolean(),
      fc.array(step, { minLength: 3, maxLength: STEPS }),
      async (isOpen, asksFirst, steps) => {
        const world = new World();
        await world.create(isOpen, asksFirst);
        for (const one of steps) {
          await world.run(one);
          expect(await world.broken(), JSON.stringify(steps)).toEqual([]);
        }
        expect(await world.listReached(), JSON.stringify(steps)).toEqual([]);
      },
    ),
    { numRuns: RUNS, examples: RARE.map((steps) => [false, false, steps]) },
  );
});

it('a contact that the public key added gets marketing by every way of sending once it has confirmed, and none before', async () => {
  const world = new World();
  await world.create(false, true);
  const [email] = ADDRESSES;
  await world.run({ do: 'trackWithPublicKey', address: 0 });
  expect(await world.waysTo(email)).toEqual([]);
  await world.run({ do: 'confirm', email: 0 });
  expect(new Set(await world.waysTo(email))).toEqual(new Set(['TRANSACTIONAL', 'WORKFLOW', 'CAMPAIGN', 'audience']));
  await world.run({ do: 'email', address: 0 });
  await world.run({ do: 'refuse', email: 0 });
  await world.run({ do: 'erase', address: 0 });
  await world.run({ do: 'trackWithPublicKey', address: 0 });
  expect(await world.waysTo(email)).toEqual([]);
});
