import type { Trx } from '../../db/connection.ts';
import { lockContacts } from '../../db/contacts/locks.ts';
import { insertProviderMessages } from '../../db/emails/provider-messages.ts';
import { type ClaimedEmail, type ErasedPart, settleEmails } from '../../db/sending/email-ledger.ts';
import { checkRateGuards, checkRefusalGuard } from '../../db/sending/hold-guard.ts';
import type { RecordedOutcome } from '../../rules/emails/attempt-outcome.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import type { EmailEventData } from '../../rules/emails/email-event.ts';
import { EMAIL_PROVIDERS, type EmailProviderKind } from '../../rules/emails/email-providers.ts';
import { isSimulated } from '../../rules/emails/simulator.ts';
import { computeAddressHash } from '../../rules/emails/suppression.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { type NewEvent, recordEvents } from '../events/record-events.ts';
import {
  type AddressesToSuppress,
  findContactsByAddress,
  resolveHolders,
  suppressAddresses,
} from '../feedback/suppress-addresses.ts';

/** The fields of a claimed email that `recordEmailResults` reads. */
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

/**
 * The outcome of one attempt to send a claimed email. `event` has the data of the email's event; it is null if the
 * email was never rendered.
 */
export interface EmailResult {
  email: AttemptedEmail;
  outcome: RecordedOutcome;
  event: EmailEventData | null;
}

/**
 * Records the results of one project's emails and all their consequences, in the caller's transaction (contract §9.7
 * Refusals):
 * - the status of each email, with the events `email.sent` and `email.bounce`;
 * - for a hard bounce, a suppression of the address and an unsubscription of the contact;
 * - the provider's message id, if the provider's feedback identifies emails by the provider's own ids.
 * Locks the contacts first, in the order of their ids, like every transaction. Live emails count for the project's
 * guards (except emails to simulator addresses), and a guard may put the project on hold. If a contact was erased
 * during the attempt, nothing about the contact is stored: no address, no text and no reply (contract §3.4 Erasure).
 * @param p.source the kind of the provider to which the emails were sent
 * @returns `recorded`: the ids of the emails whose result was recorded (a result with an older claim number is
 * ignored). `outbox`: the rows to pass to `outbox.wake`. `watched`: whether a mailbox provider has recently refused the
 * project's email (see `countWatchedEmails`)
 */
export async function recordEmailResults(
  trx: Trx,
  p: { projectId: string; results: EmailResult[]; suppressionKey: Buffer; source: EmailProviderKind },
): Promise<{ recorded: Set<string>; outbox: OutboxRow[]; watched: boolean }> {
  const { projectId } = p;
  const eventful = p.results.filter(emitsEvent);
  // The results of workflow steps always need the contact's lock, because this transaction also completes their steps.
  const lockingResults = p.results.filter((result) => emitsEvent(result) || result.email.executionId !== null);
  const holders = await findContactsByAddress(trx, { projectId, addresses: listHardBouncedAddresses(p.results) });
  const contactIds = [...lockingResults.flatMap(({ email }) => email.contact?.id ?? []), ...holders.values()];
  const lockedContacts = await lockContacts(trx, { projectId, ids: [...new Set(contactIds)] });
  const settlements = p.results.map(({ email, outcome }) => ({ id: email.id, claim: email.claim, outcome }));
  const recorded = await settleEmails(trx, { projectId, settlements });
  const counted = eventful.filter(({ email }) => recorded.has(email.id));
  if (EMAIL_PROVIDERS[p.source].tellsById)
    await insertProviderMessages(trx, { projectId, messages: p.results.flatMap(listAcceptedEmails) });
  const { outbox } = await recordEvents(trx, {
    projectId,
    events: counted.flatMap((result) => createEvents(result, recorded.get(result.email.id) ?? null)),
    lockedContacts,
  });
  const ended = counted.flatMap((result) =>
    listAddressesToSuppress(result, { ...p, holders, lockedContacts, erased: recorded.get(result.email.id) ?? null }),
  );
  outbox.push(...(await suppressAddresses(trx, { ...p, ended, because: 'bounce' })));
  const guarded = await countForGuards(trx, {
    projectId,
    results: p.results.filter((result) => countsForGuards(result) && recorded.has(result.email.id)),
  });
  return { recorded: new Set(recorded.keys()), outbox: [...outbox, ...guarded.outbox], watched: guarded.watched };
}

function emitsEvent({ outcome }: EmailResult): boolean {
  return outcome.kind === 'accepted' || outcome.kind === 'bounced';
}

/**
 * Tells whether a result counts for the project's guards: the provider accepted the email, bounced it, or refused its
 * sender.
 */
function countsForGuards(result: EmailResult): boolean {
  return emitsEvent(result) || (result.outcome.kind === 'failed' && result.outcome.refusesSender === true);
}

/**
 * Lists the emails that the provider accepted, with the provider's message ids. Includes results that `settleEmails`
 * ignores because their claim is old: feedback about such an email still arrives. Skips test emails, which never reach
 * a provider.
 */
function listAcceptedEmails({ email, outcome }: EmailResult): { messageId: string; emailId: string }[] {
  if (outcome.kind !== 'accepted' || outcome.providerMessageId === null || email.mode === 'test') return [];
  return [{ messageId: outcome.providerMessageId, emailId: email.id }];
}

/**
 * Counts results for the project's guards. Call this function last, because it locks rows that every sender of the
 * project needs.
 */
async function countForGuards(
  trx: Trx,
  p: { projectId: string; results: EmailResult[] },
): Promise<{ outbox: OutboxRow[]; watched: boolean }> {
  const { projectId, results } = p;
  const isLive = ({ email }: EmailResult) => email.mode === 'live' && !isSimulated(email);
  const live = results.filter(isLive).map(({ outcome }) => outcome);
  if (live.length === 0) return { outbox: [], watched: false };
  const refusals = new Map<string, number>();
  for (const outcome of live) {
    if (outcome.kind !== 'failed' || outcome.provider === undefined) continue;
    refusals.set(outcome.provider, (refusals.get(outcome.provider) ?? 0) + 1);
  }
  const dead = live.filter(isHardBounce).length;
  const { outbox, watched } = await checkRateGuards(trx, { projectId, emails: live.length, dead, complaints: 0 });
  for (const [provider, refused] of [...refusals].sort(([a], [b]) => (a < b ? -1 : 1)))
    outbox.push(...(await checkRefusalGuard(trx, { projectId, provider, refused })));
  return { outbox, watched };
}

/** Returns the event of a result. If the text of the email was erased, the event has no data. */
function createEvents({ email, outcome, event }: EmailResult, erased: ErasedPart): NewEvent[] {
  if (!event || email.options.sandbox) return [];
  const buildData = (detail: Record<string, unknown>) => (erased === null ? { ...event, ...detail } : {});
  const common = {
    contactId: email.contact?.id ?? null,
    emailId: email.id,
    mode: email.mode,
    causeId: email.executionId,
    // The subject may contain text of an unauthenticated caller.
    untrusted: [email.contact?.data, email.variables].some((values) => values && values.untrusted.size > 0),
    untrustedTrigger: email.options.forStranger === true,
  };
  const at = new Date().toISOString();
  if (outcome.kind === 'accepted') return [{ ...common, name: 'email.sent', data: buildData({ sentAt: at }) }];
  if (outcome.kind !== 'bounced') return [];
  const { bounceType } = outcome.refusal;
  const detail = bounceType === 'Permanent' ? { bouncedAt: at } : { transientBounce: true };
  return [{ ...common, name: 'email.bounce', data: buildData({ bounceType, ...detail }) }];
}

function isHardBounce(outcome: RecordedOutcome): boolean {
  return outcome.kind === 'bounced' && outcome.refusal.why === 'dead_mailbox';
}

/** Returns the addresses of the recipients that hard-bounced, in lower case. */
function listHardBouncedAddresses(results: EmailResult[]): string[] {
  return results.flatMap(({ email, outcome }) =>
    email.to && isHardBounce(outcome) ? normalizeEmail(email.to.email) : [],
  );
}

/**
 * Lists the addresses to suppress after a result. A workflow step may send to an address that is not its contact's. In
 * that case the contact that has this address is unsubscribed, not the contact of the step. If the recipient was erased
 * during the attempt, only the hash of the address is stored.
 * @param p.holders the contacts by address, read before the lock
 * @param p.lockedContacts the contacts that the transaction has locked
 */
function listAddressesToSuppress(
  result: EmailResult,
  p: {
    holders: ReadonlyMap<string, string>;
    lockedContacts: ReadonlySet<string>;
    erased: ErasedPart;
    suppressionKey: Buffer;
  },
): AddressesToSuppress[] {
  return listHardBouncedAddresses([result]).map((address) => ({
    ...resolveHolders([address], p),
    ...(p.erased === 'recipient' && { addresses: [{ hash: computeAddressHash(p.suppressionKey, address) }] }),
    causeId: result.email.executionId,
  }));
}
