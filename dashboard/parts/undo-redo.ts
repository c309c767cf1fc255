import { useHotkeys } from '@mantine/hooks';
import { IconArrowBackUp, IconArrowForwardUp } from '@tabler/icons-react';
import { text } from '../text/text.ts';
import type { EditorTool } from './editor-frame.tsx';

interface UndoRedo {
  undo: (() => void) | undefined;
  redo: (() => void) | undefined;
}

/**
 * Returns the header actions that undo and redo changes in an editor. Undefined disables one, and its button keeps the
 * focus.
 */
export function createUndoTools({ undo, redo }: UndoRedo): EditorTool[] {
  return [
    { label: text.parts.undo, icon: IconArrowBackUp, look: 'icon', onClick: undo },
    { label: text.parts.redo, icon: IconArrowForwardUp, look: 'icon', onClick: redo },
  ];
}

/** Undoes and redoes changes by keyboard. In a field, the shortcuts belong to the browser or the code editor. */
export function useUndoHotkeys({ undo, redo }: UndoRedo): void {
  useHotkeys([
    ['mod+Z', () => undo?.()],
    ['mod+shift+Z', () => redo?.()],
  ]);
}
