import type { Trx } from '../../db/connection.ts';
import { deleteIdempotencyKeys, insertIdempotencyKeys, storeResponses } from '../../db/idempotency-batch.ts';
import { inSavepoint } from '../../db/transaction.ts';
import {
  type BatchResponse,
  type BatchResult,
  listContactChanges,
  type SendBatch,
  type SendRequest,
} from '../../rules/emails/send-request.ts';
import { AppError, toErrorBody } from '../../rules/errors.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { acceptSends, type SendOutcome } from './accept-sends.ts';

type Outcomes = Map<SendRequest | AppError, SendOutcome>;

/**
 * Accepts the emails of a batch in the caller's transaction, with the batch's idempotency key. A refused email stores
 * nothing and does not affect the other emails; with `atomic`, a refusal undoes the whole batch. The idempotency key is
 * stored if at least one email was accepted. Source: contract §9.19 Batch.
 * @throws AppError IDEMPOTENCY_KEY_REUSED; with `atomic`, the error of the first refused email
 */
export async function acceptBatch(
  trx: Trx,
  batch: SendBatch,
  { suppressionKey }: { suppressionKey: Buffer },
): Promise<{ response: BatchResponse; outbox: OutboxRow[] }> {
  const { projectId, owner, request, fingerprint, idempotencyKey } = batch;
  const keys = idempotencyKey === undefined ? [] : [{ projectId, owner, request, fingerprint, key: idempotencyKey }];
  const [reused] = (await insertIdempotencyKeys(trx, keys)).values();
  if (reused) throw reused;
  const { outcomes, outbox } = await acceptEmails(trx, batch.emails, suppressionKey);
  const response = buildBatchResponse(batch.emails, outcomes);
  if (batch.atomic && response.data.refused > 0) throw buildBatchError(batch.emails, outcomes);
  if (response.data.accepted === 0) await deleteIdempotencyKeys(trx, keys);
  else
    await storeResponses(
      trx,
      keys.map((key) => ({ ...key, statusCode: 200, response: response })),
    );
  return { response, outbox };
}

async function acceptEmails(trx: Trx, emails: SendBatch['emails'], suppressionKey: Buffer) {
  const outcomes: Outcomes = new Map();
  const outbox: OutboxRow[] = [];
  for (const email of emails) if (email instanceof AppError) outcomes.set(email, { outcome: 'refused', error: email });
  const requests = emails.filter((email): email is SendRequest => !(email instanceof AppError));
  for (const group of groupCompatible(requests)) {
    const accepted = await acceptGroup(trx, group, suppressionKey);
    for (const [n, outcome] of accepted.outcomes.entries()) outcomes.set(group[n] as SendRequest, outcome);
    outbox.push(...accepted.outbox);
  }
  return { outcomes, outbox };
}

/** Accepts emails together. If one of them causes an error, accepts each email separately. */
async function acceptGroup(trx: Trx, group: SendRequest[], suppressionKey: Buffer) {
  try {
    return await inSavepoint(trx, () => acceptSends(trx, group, { suppressionKey }));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (group.length === 1) return { outcomes: [{ outcome: 'refused' as const, error }], outbox: [] };
  }
  const outcomes: SendOutcome[] = [];
  const outbox: OutboxRow[] = [];
  for (const request of group) {
    const accepted = await acceptGroup(trx, [request], suppressionKey);
    outcomes.push(...accepted.outcomes);
    outbox.push(...accepted.outbox);
  }
  return { outcomes, outbox };
}

/** Splits the emails, in their order, into groups. In a group, no two emails change one contact in different ways. */
function groupCompatible(requests: SendRequest[]): SendRequest[][] {
  const groups: SendRequest[][] = [];
  let changes = new Map<string, string>();
  for (const request of requests) {
    const requestChanges = listContactChanges(request);
    const group = groups.at(-1);
    if (group && requestChanges.every(([contact, change]) => (changes.get(contact) ?? change) === change))
      group.push(request);
    else {
      groups.push([request]);
      changes = new Map();
    }
    for (const [contact, change] of requestChanges) changes.set(contact, change);
  }
  return groups;
}

function buildBatchResponse(emails: SendBatch['emails'], outcomes: Outcomes): BatchResponse {
  const results = emails.map((email): BatchResult => {
    const outcome = outcomes.get(email);
    if (!outcome) throw new Error('an email of a batch has no outcome');
    return outcome.outcome === 'accepted'
      ? { success: true, data: outcome.response.data }
      : { success: false, error: toErrorBody(outcome.error) };
  });
  const accepted = results.filter(({ success }) => success).length;
  const refused = results.length - accepted;
  return { success: true, data: { results, accepted, refused, timestamp: new Date().toISOString() } };
}

/**
 * Returns the error of an atomic batch. The error has the code and message of the first refused email; `errors` lists
 * the errors of all emails, with their positions.
 */
function buildBatchError(emails: SendBatch['emails'], outcomes: Outcomes): AppError {
  const refusals = emails.flatMap((email, index) => {
    const outcome = outcomes.get(email);
    return outcome?.outcome === 'refused' ? [{ index, error: outcome.error }] : [];
  });
  const [first] = refusals;
  if (!first) throw new Error('an atomic batch without a refusal was refused');
  const { code, status, suggestion, headers } = first.error;
  const errors = refusals.flatMap(({ index, error }) =>
    error.errors
      ? error.errors.map((fault) => ({ ...fault, field: `emails.${index}.${fault.field}` }))
      : [{ field: `emails.${index}`, message: error.message, code: 'custom' }],
  );
  return new AppError(code, {
    status,
    suggestion,
    headers,
    errors,
    message: `No email of the batch was accepted. emails.${first.index}: ${first.error.message}`,
    details: { ...first.error.details, refused: refusals.map(({ index }) => index) },
  });
}
