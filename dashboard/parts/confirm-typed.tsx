import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { text } from '../text/text.ts';
import { onFirstClick } from './action-button.tsx';
import { Failed } from './failed.tsx';

/**
 * Asks the user to type a word before an action that cannot be undone. If the action fails, the dialog stays open and
 * shows the error.
 */
export function ConfirmTyped({
  opened,
  onClose,
  title,
  what,
  word,
  action,
  onConfirm,
  isPending,
  error,
}: {
  opened: boolean;
  onClose: () => void;
  title: string;
  /** Describes what will happen, to which records, and that it cannot be undone. */
  what: ReactNode;
  /** The word to type: a number of contacts, or a name. */
  word: string;
  action: string;
  onConfirm: () => void;
  isPending: boolean;
  error?: unknown;
}) {
  const [typed, setTyped] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed.trim() === word) onConfirm();
  };
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': text.app.close }}>
      <form onSubmit={submit}>
        <Stack>
          <Text component="div" size="sm">
            {what}
          </Text>
          <TextInput
            label={text.parts.typeToConfirm(word)}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
          {error !== undefined && error !== null && <Failed error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {text.parts.cancel}
            </Button>
            <Button
              type="submit"
              color="red.9"
              loading={isPending}
              disabled={typed.trim() !== word}
              onClick={onFirstClick()}
            >
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
