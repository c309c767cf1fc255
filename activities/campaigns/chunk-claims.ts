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

/** The number of rows of a range. A claim takes as many ranges as can be sent in about 500 ms. */
const RANGE_ROWS = 100;
const RANGES_MAX = 5;
const COSTLY_RANGE_ROWS = 5;
const CLAIM_AHEAD_MS = 500;

/** Claims the rows of a chunk for one turn, in order. */
export class ChunkClaims {
  private readonly deps: { db: Db; pads: KeyPads };
  private readonly turn: ChunkTurn;
  private readonly claim: number;
  private ranges: LedgerRange[] = [];
  /** The number of ranges that the next claim takes. */
  private rangesPerClaim = 1;
  private foundNothing = false;
  private refused = 0;

  constructor(deps: { db: Db; pads: KeyPads }, turn: ChunkTurn, claim: number) {
    this.deps = deps;
    this.turn = turn;
    this.claim = claim;
  }

  /**
   * Reads the ranges to claim. With a send rate, each row is a range of its own, because the rate decides how many rows
   * a claim takes.
   */
  async open({ rowByRow }: { rowByRow: boolean }): Promise<void> {
    const { chunk, from } = this.turn;
    this.ranges = await listRanges(this.deps.db, { ...chunk, from, size: rowByRow ? 1 : this.rangeRows });
  }

  /** The number of ranges that are not claimed yet. */
  get left(): number {
    return this.ranges.length;
  }

  /** The first row of the next claim. */
  get nextId(): string | undefined {
    return this.ranges[0]?.first;
  }

  /**
   * Tells whether a claim was refused: the campaign was cancelled or paused, the project was put on hold, or its send
   * rate changed.
   */
  get blocked(): boolean {
    return this.foundNothing;
  }

  /** The number of recipients that the claims so far have skipped. */
  get skipped(): number {
    return this.refused;
  }

  /** Makes the next claim, of the given number of ranges, or of as many as can be sent in about 500 ms. */
  async next(ranges: number = this.rangesPerClaim): Promise<ClaimedRecipient[]> {
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

  /** Makes the next claims larger or smaller, according to how long the rows of a claim took. */
  adapt(rows: number, tookMs: number): void {
    const leaveInTime = (rows / Math.max(1, tookMs)) * CLAIM_AHEAD_MS;
    const max = (RANGES_MAX * RANGE_ROWS) / this.rangeRows;
    this.rangesPerClaim = Math.max(1, Math.min(max, Math.round(leaveInTime / this.rangeRows)));
  }

  /**
   * The size of a range. Costly content gets small claims: one message may take 500 ms, and consent is checked at the
   * claim.
   */
  private get rangeRows(): number {
    return this.turn.composer.costly ? COSTLY_RANGE_ROWS : RANGE_ROWS;
  }
}

function joinRanges(parts: LedgerRange[]): LedgerRange {
  const first = parts[0];
  const last = parts.at(-1);
  if (!first || !last) throw new Error('a claim needs at least one range');
  return { first: first.first, last: last.last, rows: parts.reduce((sum, part) => sum + part.rows, 0) };
}
