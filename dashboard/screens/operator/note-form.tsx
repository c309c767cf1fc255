import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Failed } from '../../parts/failed.tsx';
import { text } from '../../text/text.ts';

const NOTE_MAX_CHARS = 500;

/** Asks for a reason or a note before an action. If the action fails, the form stays open and shows the error. */
export function NoteForm({
  opened,
  onClose,
  title,
  what,
  label,
  given,
  required = false,
  action,
  color,
  write: { isPending, error },
  onSubmit,
}: {
  opened: boolean;
  onClose: () => void;
  title: string;
  /** Describes the effect. */
  what: string;
  label: string;
  given: string;
  required?: boolean;
  action: string;
  color?: string;
  write: { isPending: boolean; error: Error | null };
  onSubmit: (note: string) => void;
}) {
  const [note, setNote] = useState(given);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit(note.trim());
  };
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': text.app.close }}>
      <form onSubmit={submit}>
        <Stack>
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
          {error && <Failed error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {text.parts.cancel}
            </Button>
            <Button
              type="submit"
              {...(color && { color })}
              loading={isPending}
              disabled={required && note.trim() === ''}
            >
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
