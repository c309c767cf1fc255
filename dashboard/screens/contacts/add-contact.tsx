import { Checkbox, Modal, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';

const words = text.contacts.add;

/** Adds a contact by address and opens it, so that the user can fill in its data. */
export function AddContact({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title={words.title} closeButtonProps={{ 'aria-label': text.app.close }}>
      <Form onClose={onClose} />
    </Modal>
  );
}

function Form({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [subscribed, setSubscribed] = useState(false);
  const navigate = useNavigate();
  const save = useWrite('saveContact', { changes: ['listContacts', 'getContact'] });
  const find = useWrite('lookupContacts', { changes: [] });
  const show = (contactId: string) => {
    onClose();
    void navigate({ to: '/contacts/$contactId', params: { contactId } });
  };
  const add = () =>
    save.mutate(
      { body: { email: email.trim(), subscribed } },
      {
        onSuccess: ({ id, _meta }) => {
          if (!_meta.isNew) notifySuccess(words.updated);
          show(id);
        },
      },
    );
  const submit = () =>
    find.mutate(
      { body: { emails: [email.trim()] } },
      {
        onSuccess: ({ found: [existing] }) => {
          // An empty checkbox must not unsubscribe an existing contact.
          if (!existing || subscribed) return add();
          notifySuccess(words.known);
          show(existing.id);
        },
      },
    );
  const error = find.error ?? save.error;
  const fault = error?.fields.find(({ field }) => /^emails?\b/.test(field))?.message;
  return (
    <DialogForm
      action={words.save}
      isReady={email.trim() !== ''}
      write={{ isPending: find.isPending || save.isPending, error: fault ? null : error }}
      onSubmit={submit}
      onCancel={onClose}
    >
      <TextInput
        label={words.email}
        inputMode="email"
        required
        data-autofocus
        value={email}
        error={fault}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <Checkbox
        label={words.subscribed}
        description={words.subscribedHelp}
        checked={subscribed}
        onChange={(event) => setSubscribed(event.currentTarget.checked)}
      />
    </DialogForm>
  );
}
