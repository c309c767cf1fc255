import {
  type ClaimedRecipient,
  type ClaimRequest,
  claimRange,
  type LedgerRange,
  listUnsentRanges,
  skipWithheldRecipients,
} from '../../db/campaigns/claims.ts';
import type { Db } from '../../db/connection.ts';
import type { KeyPads } from '../../rules/emails/suppression.ts';
import type { ChunkTurn } from './chunk-turn.ts';

/**
 * The number of ledger rows of a range. A claim takes as many ranges as the turn can send in about 500 ms
 * (`CLAIM_AHEAD_MS`).
 */
const RANGE_ROWS = 100;
const RANGES_MAX = 5;
const COSTLY_RANGE_ROWS = 5;
const CLAIM_AHEAD_MS = 500;

/** Claims the rows of a chunk for one turn, in the order of their ids. */
export class ChunkClaims {
  private readonly deps: { db: Db; pads: KeyPads };
  private readonly turn: ChunkTurn;
  private readonly claim: number;
  private ranges: LedgerRange[] = [];
  /** The number of ranges that the next claim takes. */
  private rangesPerClaim = 1;
  private wasRefused = false;
  private skippedSoFar = 0;

  constructor(deps: { db: Db; pads: KeyPads }, turn: ChunkTurn, claim: number) {
    this.deps = deps;
    this.turn = turn;
    this.claim = claim;
  }

  /**
   * Reads the ranges of the chunk that the turn has to claim. With a send rate, each range has one row, because the
   * rate decides how many rows a claim takes.
   */
  async readRanges({ rowByRow }: { rowByRow: boolean }): Promise<void> {
    const { chunk, from } = this.turn;
    this.ranges = await listUnsentRanges(this.deps.db, { ...chunk, from, size: rowByRow ? 1 : this.rangeRows });
  }

  /** The number of ranges that are not claimed yet. */
  get rangesLeft(): number {
    return this.ranges.length;
  }

  /** The id of the first row of the next claim. */
  get nextId(): string | undefined {
    return this.ranges[0]?.first;
  }

  /**
   * Tells whether the database refused a claim, because the campaign was cancelled or paused, the project was put on
   * hold, its send rate or frequency cap changed, or the chunk's sending window closed or changed.
   */
  get isBlocked(): boolean {
    return this.wasRefused;
  }

  /** The number of recipients that the claims so far have skipped. */
  get skippedCount(): number {
    return this.skippedSoFar;
  }

  /** Claims the next ranges: the given number, or by default as many as the turn can send in about 500 ms. */
  async claimNext(ranges: number = this.rangesPerClaim): Promise<ClaimedRecipient[]> {
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
    const skipped = await skipWithheldRecipients(db, request);
    this.skippedSoFar += skipped;
    if (rows.length > 0 || skipped > 0) return rows;
    this.wasRefused = true;
    this.ranges.unshift(range);
    return rows;
  }

  /** Adapts the size of the next claims to the time that it took to send the rows of the last claim. */
  adaptClaimSize(rows: number, tookMs: number): void {
    const rowsInTime = (rows / Math.max(1, tookMs)) * CLAIM_AHEAD_MS;
    const max = (RANGES_MAX * RANGE_ROWS) / this.rangeRows;
    this.rangesPerClaim = Math.max(1, Math.min(max, Math.round(rowsInTime / this.rangeRows)));
  }

  /**
   * The number of rows of a range. Claims of costly content are small: one message may take 500 ms, and the claim
   * checks the consent of all its recipients before the first message is sent.
   */
  private get rangeRows(): number {
    return this.turn.composer.costly ? COSTLY_RANGE_ROWS : RANGE_ROWS;
  }
}

function joinRanges(ranges: LedgerRange[]): LedgerRange {
  const first = ranges[0];
  const last = ranges.at(-1);
  if (!first || !last) throw new Error('a claim needs at least one range');
  return { first: first.first, last: last.last, rows: ranges.reduce((sum, range) => sum + range.rows, 0) };
}
