import { Modal, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { text } from '../../text/text.ts';

const NOTE_MAX_CHARS = 500;

/** Asks for a reason or a note before an action. If the action fails, the form stays open and shows the error. */
export function NoteForm({
  opened,
  onClose,
  title,
  what,
  label,
  initialNote,
  required = false,
  action,
  color,
  write,
  onSubmit,
}: {
  opened: boolean;
  onClose: () => void;
  title: string;
  /** Describes the effect. */
  what: string;
  label: string;
  initialNote: string;
  required?: boolean;
  action: string;
  color?: string;
  write: { isPending: boolean; error: Error | null };
  onSubmit: (note: string) => void;
}) {
  const [note, setNote] = useState(initialNote);
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': text.app.close }}>
      <DialogForm
        action={action}
        isReady={!required || note.trim() !== ''}
        write={write}
        onSubmit={() => onSubmit(note.trim())}
        onCancel={onClose}
        color={color}
      >
        <Text size="sm">{what}</Text>
        <Textarea
          label={label}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
          required={required}
          maxLength={NOTE_MAX_CHARS}
          autosize
          minRows={2}
          data-autofocus
        />
      </DialogForm>
    </Modal>
  );
}
