import type { OpenClock } from '../../db/campaigns/chunk-clock.ts';
import type { ChunkRef, SendTerms } from '../../db/campaigns/chunks.ts';
import type { ClaimedRecipient } from '../../db/campaigns/claims.ts';
import type { AttemptedEmail } from '../../engine/attempts/email-outcomes.ts';
import { markTrusted, markUntrusted } from '../../rules/strangers/provenance.ts';
import type { CampaignComposer } from './message.ts';
import type { SlowContent } from './slow-content.ts';

export interface ChunkTurn {
  chunk: ChunkRef;
  terms: SendTerms;
  /** Until when the chunk may be sent, as it was decided when the turn began. */
  clock: OpenClock;
  composer: CampaignComposer;
  slow: SlowContent;
  /**
   * Something waits for `email.sent`, so each one is recorded with all that follows from it. The recorder notices when
   * that begins later.
   */
  eventful: boolean;
  /** Mails a second over all workers; 0 is no limit. */
  ratePerSecond: number;
  /** Aborted when the campaign is cancelled or the worker stops. */
  stop: AbortSignal;
  /** The id of the row at which an earlier turn of this round ended. */
  from?: string | undefined;
  /** The provider has put off mails of this round, which are before `from`. */
  putOff?: boolean | undefined;
  /** Milliseconds since 1970: no claim after it, and what the provider has not begun with is taken back. */
  untilMs: number;
}

/**
 * `blocked`: a claim found nothing to take, because the campaign was cancelled, the project put on hold, or its send
 * rate changed. `paced`: the send rate, or what the project may compute, has no room now. `hopeless`: the content runs
 * out of time for everybody. With `from` the round goes on at this row; without it the next turn begins a round.
 */
export interface ChunkTurnResult {
  outcome: 'done' | 'more' | 'deferred' | 'blocked' | 'stopped' | 'paced' | 'hopeless';
  sent: number;
  from?: string;
  putOff?: boolean;
  /** With `paced`. */
  retryAfterMs?: number;
  /** Earlier deferrals by the provider do not count. */
  fresh?: true;
}

/** A campaign is rendered with the contact alone. */
const NO_VARIABLES = markTrusted({});

/** A recipient of the turn, as the settler reads it. */
export function toAttemptedEmail({ chunk, terms }: ChunkTurn, claim: number, row: ClaimedRecipient): AttemptedEmail {
  const { id, contactId, email, untrustedKeys, attempts } = row;
  return {
    id,
    projectId: chunk.projectId,
    claim,
    attempts,
    mode: terms.mode,
    to: { email, name: null },
    contact: { id: contactId, email, subscribed: true, data: markUntrusted({}, untrustedKeys) },
    variables: NO_VARIABLES,
    options: {},
    executionId: null,
    visit: null,
  };
}
