import type { Trx } from '../../db/connection.ts';
import { lockContacts } from '../../db/contacts/locks.ts';
import { insertProviderMessages } from '../../db/emails/provider-messages.ts';
import { type ClaimedEmail, settleEmails } from '../../db/sending/email-ledger.ts';
import { guardRates, guardRefusals } from '../../db/sending/hold-guard.ts';
import type { RecordedOutcome } from '../../rules/emails/attempt-outcome.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import type { EmailEventData } from '../../rules/emails/email-event.ts';
import { EMAIL_PROVIDERS, type EmailProviderKind } from '../../rules/emails/email-providers.ts';
import { isSimulated } from '../../rules/emails/simulator.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { type NewEvent, recordEvents } from '../events/record-events.ts';
import { type EndedAddresses, endAddresses, findHolders } from '../feedback/end-addresses.ts';

/** The facts about a claimed email that the recording of its outcome reads. */
export type AttemptedEmail = Pick<
  ClaimedEmail,
  | 'id'
  | 'projectId'
  | 'claim'
  | 'attempts'
  | 'mode'
  | 'to'
  | 'contact'
  | 'variables'
  | 'options'
  | 'executionId'
  | 'visit'
>;

/** The outcome of one claimed email. `event` is set when the email was rendered. */
export interface EmailResult {
  email: AttemptedEmail;
  outcome: RecordedOutcome;
  event: EmailEventData | null;
}

/**
 * Records the results of one project's emails and all their consequences, in the caller's transaction (contract §9.7
 * Refusals):
 * - the status of each email, with `email.sent` and `email.bounce`;
 * - for a hard bounce, the suppression entry and the contact's unsubscription;
 * - the provider's message id, when the provider reports feedback by its own ids. Contacts are locked first, in the
 *   order of their ids, as in every transaction. Live emails count towards the bounce guards, which may put the project
 *   on hold.
 * @param p.source the provider
 * @returns the ids whose result was recorded (results of older claims are ignored), rows for `outbox.wake`, and whether
 * a mailbox provider has recently refused the project's email (`watched`, see `findWatchedEmails`)
 */
export async function recordEmailResults(
  trx: Trx,
  p: { projectId: string; results: EmailResult[]; suppressionKey: Buffer; source: EmailProviderKind },
): Promise<{ recorded: Set<string>; outbox: OutboxRow[]; watched: boolean }> {
  const { projectId } = p;
  const eventful = p.results.filter(isEventful);
  // Also counts the results of executions' emails, because their steps are completed in this transaction.
  const touched = p.results.filter((result) => isEventful(result) || result.email.executionId !== null);
  const holders = await findHolders(trx, { projectId, addresses: deadAddresses(p.results) });
  const contactIds = [...touched.flatMap(({ email }) => email.contact?.id ?? []), ...holders.values()];
  await lockContacts(trx, { projectId, ids: [...new Set(contactIds)] });
  const settlements = p.results.map(({ email, outcome }) => ({ id: email.id, claim: email.claim, outcome }));
  const recorded = await settleEmails(trx, { projectId, settlements });
  const counted = eventful.filter(({ email }) => recorded.has(email.id));
  if (EMAIL_PROVIDERS[p.source].tellsById)
    await insertProviderMessages(trx, { projectId, messages: p.results.flatMap(listAcceptedEmails) });
  const { outbox } = await recordEvents(trx, { projectId, events: counted.flatMap(eventsOf), contactsLocked: true });
  const ended = listEndedAddresses({ results: counted, holders });
  outbox.push(...(await endAddresses(trx, { ...p, ended, because: 'bounce' })));
  const guarded = await countForGuards(trx, {
    projectId,
    results: p.results.filter((result) => isGuarded(result) && recorded.has(result.email.id)),
  });
  return { recorded, outbox: [...outbox, ...guarded.outbox], watched: guarded.watched };
}

function isEventful({ outcome }: EmailResult): boolean {
  return outcome.kind === 'accepted' || outcome.kind === 'bounced';
}

/** Tells whether a result counts for the bounce guards. An email that was not attempted does not count. */
function isGuarded(result: EmailResult): boolean {
  return isEventful(result) || (result.outcome.kind === 'failed' && result.outcome.refusesSender === true);
}

/**
 * Lists the emails that the provider accepted, with its own ids, also if the result of the attempt is ignored. Test
 * emails never reached a provider.
 */
function listAcceptedEmails({ email, outcome }: EmailResult): { messageId: string; emailId: string }[] {
  if (outcome.kind !== 'accepted' || outcome.providerMessageId === null || email.mode === 'test') return [];
  return [{ messageId: outcome.providerMessageId, emailId: email.id }];
}

/** Counts results for the bounce guards. Call it last, because it locks rows that every sender of the project needs. */
async function countForGuards(
  trx: Trx,
  p: { projectId: string; results: EmailResult[] },
): Promise<{ outbox: OutboxRow[]; watched: boolean }> {
  const { projectId, results } = p;
  const counts = ({ email }: EmailResult) => email.mode === 'live' && !isSimulated(email);
  const live = results.filter(counts).map(({ outcome }) => outcome);
  if (live.length === 0) return { outbox: [], watched: false };
  const refusals = new Map<string, number>();
  for (const outcome of live) {
    if (outcome.kind !== 'failed' || outcome.provider === undefined) continue;
    refusals.set(outcome.provider, (refusals.get(outcome.provider) ?? 0) + 1);
  }
  const dead = live.filter(isDead).length;
  const { outbox, watched } = await guardRates(trx, { projectId, emails: live.length, dead, complaints: 0 });
  for (const [provider, refused] of [...refusals].sort(([a], [b]) => (a < b ? -1 : 1)))
    outbox.push(...(await guardRefusals(trx, { projectId, provider, refused })));
  return { outbox, watched };
}

function eventsOf({ email, outcome, event }: EmailResult): NewEvent[] {
  if (!event || email.options.sandbox) return [];
  const about = {
    contactId: email.contact?.id ?? null,
    emailId: email.id,
    mode: email.mode,
    causeId: email.executionId,
    // The subject may contain text of an unauthenticated caller.
    untrusted: [email.contact?.data, email.variables].some((values) => values && values.untrusted.size > 0),
    untrustedTrigger: email.options.forStranger === true,
  };
  const at = new Date().toISOString();
  if (outcome.kind === 'accepted') return [{ ...about, name: 'email.sent', data: { ...event, sentAt: at } }];
  if (outcome.kind !== 'bounced') return [];
  const { bounceType } = outcome.refusal;
  const detail = bounceType === 'Permanent' ? { bouncedAt: at } : { transientBounce: true };
  return [{ ...about, name: 'email.bounce', data: { ...event, bounceType, ...detail } }];
}

function isDead(outcome: RecordedOutcome): boolean {
  return outcome.kind === 'bounced' && outcome.refusal.why === 'dead_mailbox';
}

/** The addresses of the recipients that hard-bounced, in lower case. */
function deadAddresses(results: EmailResult[]): string[] {
  return results.flatMap(({ email, outcome }) => (email.to && isDead(outcome) ? normalizeEmail(email.to.email) : []));
}

/**
 * Lists the addresses to suppress. A step may send to another address than its contact's. In that case the contact that
 * has this address is unsubscribed.
 * @param p.holders the contacts by address; the transaction holds their locks
 */
function listEndedAddresses(p: { results: EmailResult[]; holders: Map<string, string> }): EndedAddresses[] {
  return p.results.flatMap((result) =>
    deadAddresses([result]).map((address) => {
      const holder = p.holders.get(address);
      return {
        addresses: [address],
        contactIds: holder === undefined ? [] : [holder],
        causeId: result.email.executionId,
      };
    }),
  );
}
