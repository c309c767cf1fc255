import {
  type ClaimedRecipient,
  type ClaimRequest,
  claimRange,
  type LedgerRange,
  listRanges,
  skipWithheld,
} from '../../db/campaigns/claims.ts';
import type { Db } from '../../db/connection.ts';
import type { KeyPads } from '../../rules/emails/suppression.ts';
import type { ChunkTurn } from './chunk-turn.ts';

/** Rows of the smallest claim; a claim is as many of these stretches as leave in about half a second. */
const STRETCH_ROWS = 100;
const STRETCHES_MAX = 5;
const COSTLY_STRETCH_ROWS = 5;
const CLAIM_AHEAD_MS = 500;

/** The rows of a chunk that a turn has not claimed yet, in order, and the claims of them. */
export class ChunkClaims {
  private readonly deps: { db: Db; pads: KeyPads };
  private readonly turn: ChunkTurn;
  private readonly claim: number;
  private ranges: LedgerRange[] = [];
  /** How many of them the next claim takes. */
  private stretches = 1;
  private foundNothing = false;
  private refused = 0;

  constructor(deps: { db: Db; pads: KeyPads }, turn: ChunkTurn, claim: number) {
    this.deps = deps;
    this.turn = turn;
    this.claim = claim;
  }

  /** Reads what there is to claim: row by row where a send rate decides how many. */
  async open({ rowByRow }: { rowByRow: boolean }): Promise<void> {
    const { chunk, from } = this.turn;
    this.ranges = await listRanges(this.deps.db, { ...chunk, from, size: rowByRow ? 1 : this.stretchRows });
  }

  /** Claims that there are to make. */
  get left(): number {
    return this.ranges.length;
  }

  /** The first row of the next claim. */
  get nextId(): string | undefined {
    return this.ranges[0]?.first;
  }

  /**
   * A claim found nothing to take: the campaign was cancelled or paused, the project put on hold, or its send rate
   * changed.
   */
  get blocked(): boolean {
    return this.foundNothing;
  }

  /** Recipients who get nothing, by the claims so far. */
  get skipped(): number {
    return this.refused;
  }

  /** Makes the next claim. It takes the given number of ranges, or as many as are sent in about half a second. */
  async next(ranges: number = this.stretches): Promise<ClaimedRecipient[]> {
    const { db, pads } = this.deps;
    const { chunk, composer, terms, clock } = this.turn;
    const range = joinRanges(this.ranges.splice(0, ranges));
    const request: ClaimRequest = {
      ...chunk,
      claim: this.claim,
      range,
      dataKeys: composer.dataKeys,
      suppressionPads: pads,
      sendRate: terms.sendRate,
      frequencyCap: terms.frequencyCap,
      clock,
      assignedVariant: terms.variant === null ? undefined : { variant: terms.variant, contentId: terms.contentId },
    };
    const rows = await claimRange(db, request);
    if (rows.length === range.rows) return rows;
    const skipped = await skipWithheld(db, request);
    this.refused += skipped;
    if (rows.length > 0 || skipped > 0) return rows;
    this.foundNothing = true;
    this.ranges.unshift(range);
    return rows;
  }

  /** Told how long the rows of a claim took, makes the next ones larger or smaller. */
  adapt(rows: number, tookMs: number): void {
    const leaveInTime = (rows / Math.max(1, tookMs)) * CLAIM_AHEAD_MS;
    const max = (STRETCHES_MAX * STRETCH_ROWS) / this.stretchRows;
    this.stretches = Math.max(1, Math.min(max, Math.round(leaveInTime / this.stretchRows)));
  }

  /** Costly content gets small claims: consent is decided at the claim, and one message may take half a second. */
  private get stretchRows(): number {
    return this.turn.composer.costly ? COSTLY_STRETCH_ROWS : STRETCH_ROWS;
  }
}

function joinRanges(parts: LedgerRange[]): LedgerRange {
  const first = parts[0];
  const last = parts.at(-1);
  if (!first || !last) throw new Error('a claim needs at least one stretch');
  return { first: first.first, last: last.last, rows: parts.reduce((sum, part) => sum + part.rows, 0) };
}
