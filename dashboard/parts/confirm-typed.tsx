import { Modal, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { text } from '../text/text.ts';
import { DialogForm } from './dialog-form.tsx';

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
  write,
}: {
  opened: boolean;
  onClose: () => void;
  title: string;
  /** Describes what will happen, to which records, and that it cannot be undone. */
  what: ReactNode;
  /** The text to type, such as a number of contacts, a name, or the word "delete". */
  word: string;
  action: string;
  onConfirm: () => void;
  write: { isPending: boolean; error: unknown };
}) {
  const [typed, setTyped] = useState('');
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': text.app.close }}>
      <DialogForm
        action={action}
        isReady={typed.trim() === word}
        write={write}
        onSubmit={onConfirm}
        onCancel={onClose}
        color="red.9"
      >
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
      </DialogForm>
    </Modal>
  );
}
