import type { OpenGate } from '../../db/campaigns/chunk-clock.ts';
import type { ChunkRef, SendTerms } from '../../db/campaigns/chunks.ts';
import type { ClaimedRecipient } from '../../db/campaigns/claims.ts';
import type { AttemptedEmail } from '../../engine/attempts/email-outcomes.ts';
import { markTrusted, markUntrusted } from '../../rules/provenance/provenance.ts';
import type { CampaignComposer } from './message.ts';
import type { SlowContent } from './slow-content.ts';

export interface ChunkTurn {
  chunk: ChunkRef;
  terms: SendTerms;
  /** Until when the chunk may be sent, as decided at the start of the turn. */
  clock: OpenGate;
  composer: CampaignComposer;
  slow: SlowContent;
  /**
   * Whether an automation or webhook waits for `email.sent`, so that each email is recorded with all its consequences.
   * If such a wait starts later, the recorder notices it.
   */
  eventful: boolean;
  /** Emails per second over all workers; 0 means no limit. */
  ratePerSecond: number;
  /** Aborted when the campaign is cancelled or the worker stops. */
  stop: AbortSignal;
  /** The id of the row at which an earlier turn of this round ended. */
  from?: string | undefined;
  /** Whether the provider has deferred emails of this round, before the row `from`. */
  putOff?: boolean | undefined;
  /**
   * The end of the turn, in milliseconds since 1970. Afterwards no claim starts, and emails that are not on the wire
   * yet are taken back.
   */
  untilMs: number;
}

/**
 * `blocked`: a claim was refused, because the campaign was cancelled, the project was put on hold, or its send rate
 * changed. `paced`: the send rate or the project's computing budget allows no email now. `hopeless`: the content takes
 * too long for every recipient. With `from`, the next turn continues the round at this row. Without it, the next turn
 * starts a new round.
 */
export interface ChunkTurnResult {
  outcome: 'done' | 'more' | 'deferred' | 'blocked' | 'stopped' | 'paced' | 'hopeless';
  sent: number;
  from?: string;
  putOff?: boolean;
  /** Set with `paced`. */
  retryAfterMs?: number;
  /** Set if earlier deferrals by the provider no longer count. */
  fresh?: true;
}

/** A campaign is rendered with the contact's data only. */
const NO_VARIABLES = markTrusted({});

/** Builds the email of a recipient in the form that the settler reads. */
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
