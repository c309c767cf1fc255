import { IconArrowBackUp, IconArrowForwardUp } from '@tabler/icons-react';
import { text } from '../text/text.ts';
import type { EditorTool } from './editor-frame.tsx';

/**
 * Returns the header actions that undo and redo changes in an editor. Undefined disables one, and its button keeps the
 * focus.
 */
export function createUndoTools({
  undo,
  redo,
}: {
  undo: (() => void) | undefined;
  redo: (() => void) | undefined;
}): EditorTool[] {
  return [
    { label: text.parts.undo, icon: IconArrowBackUp, look: 'icon', onClick: undo },
    { label: text.parts.redo, icon: IconArrowForwardUp, look: 'icon', onClick: redo },
  ];
}
