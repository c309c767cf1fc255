import { ActionIcon, Tooltip } from '@mantine/core';
import { IconArrowBackUp, IconArrowForwardUp } from '@tabler/icons-react';
import { text } from '../text/text.ts';

/** The buttons to undo and redo changes in an editor. Undefined disables a button, which keeps the focus. */
export function UndoRedo({ undo, redo }: { undo: (() => void) | undefined; redo: (() => void) | undefined }) {
  return (
    <>
      <Icon label={text.parts.undo} act={undo} icon={IconArrowBackUp} />
      <Icon label={text.parts.redo} act={redo} icon={IconArrowForwardUp} />
    </>
  );
}

function Icon(p: { label: string; act: (() => void) | undefined; icon: typeof IconArrowBackUp }) {
  const isDisabled = p.act === undefined;
  return (
    <Tooltip label={p.label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={32}
        aria-label={p.label}
        data-disabled={isDisabled || undefined}
        aria-disabled={isDisabled || undefined}
        onClick={p.act}
      >
        <p.icon size={16} stroke={1.75} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
