import { useRef } from 'react';
import { findInsertion, type Insertion } from './insertion.ts';
import type { SourceModel } from './source-model.ts';

export type AddedBlock = ReturnType<typeof useAddedBlock>;

/**
 * Remembers the block that was just added: the frame selects its text, and the next block is placed after it until the
 * user moves the cursor.
 */
export function useAddedBlock() {
  /** The position for the block after the added one. */
  const next = useRef<Insertion | null>(null);
  /** The range of the added block until its text is selected. */
  const added = useRef<{ start: number; end: number } | null>(null);
  /** The text part that the frame selects automatically, which does not count as a move of the cursor. */
  const selected = useRef<number | null>(null);

  return {
    clear: () => {
      next.current = null;
      added.current = null;
      selected.current = null;
    },
    clearNext: () => {
      next.current = null;
    },
    /** Returns the position for a new block, after the text at this offset if no block was just added. */
    getNextPosition: (model: SourceModel, offset: number | undefined): Insertion =>
      next.current ?? findInsertion(model, offset),
    remember: (position: Insertion, markup: string) => {
      const end = position.at + markup.length;
      next.current = { ...position, at: end };
      added.current = { start: position.at, end };
    },
    /** Returns the number of the text part to select, once after a block was added. */
    takeSelection: (model: SourceModel): number | undefined => {
      const range = added.current;
      added.current = null;
      const part = range && model.parts.find(({ kind, start }) => kind === 'text' && start >= range.start);
      if (!range || !part || part.end > range.end) return undefined;
      selected.current = part.id;
      return part.id;
    },
    onCursor: (cursor: { id: number; start: number; end: number }) => {
      if (cursor.id !== selected.current || cursor.start === cursor.end) next.current = null;
    },
  };
}
