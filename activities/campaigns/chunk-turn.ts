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
  /** The decision of `checkGate` at the start of the turn: the settings that it used, and when the window closes. */
  clock: OpenGate;
  composer: CampaignComposer;
  slow: SlowContent;
  /**
   * Whether `email.sent` has listeners in the project (db/events/listeners.ts) when the turn starts. If so, the settler
   * records each email with all its consequences. The recorder notices a listener that is added later.
   */
  hasListeners: boolean;
  /** Emails per second over all workers; 0 means no limit. */
  ratePerSecond: number;
  /** Aborted when the campaign is cancelled or the worker stops. */
  stop: AbortSignal;
  /** The id of the first row that the earlier turns of this pass over the chunk have not reached. */
  from?: string | undefined;
  /** Whether the provider has deferred emails of this pass, in rows before `from`. */
  putOff?: boolean | undefined;
  /**
   * The end of the turn, in milliseconds since 1970. After this instant the turn makes no claim, and withdraws emails
   * that are not on the wire yet.
   */
  untilMs: number;
}

/**
 * `blocked`: the database refused a claim (see `ChunkClaims.isBlocked`). `paced`: the send rate, the project's
 * computing budget or a paused route allows no email now. `too_slow`: the content took too long to compose for many
 * recipients in a row. If `from` is set, the next turn continues the pass over the chunk at this row. Without `from`,
 * the next turn starts a new pass over all rows.
 */
export interface ChunkTurnResult {
  outcome: 'done' | 'more' | 'deferred' | 'blocked' | 'stopped' | 'paced' | 'too_slow';
  sent: number;
  from?: string;
  putOff?: boolean;
  /** Milliseconds to wait before the next turn. Set only if the outcome is `paced`. */
  retryAfterMs?: number;
  /** Set if deferrals of this chunk in earlier turns no longer count towards its expiry. */
  fresh?: true;
  /** Set if the outcome is `paced` because the route is paused. */
  isRoutePaused?: true;
}

/** A campaign's email is rendered with the contact's data only, so it has no variables. */
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
