import { Modal, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { ContactSelect } from '../../parts/contact-select.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { EventPayload } from '../../parts/event-data/event-payload.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';

const words = text.developers.events;

/** Records an event by hand, for a contact or without one. */
export function SendEvent({
  opened,
  onClose,
  eventName = '',
}: {
  opened: boolean;
  onClose: () => void;
  /** Prefilled event name. */
  eventName?: string;
}) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={words.sendTitle}
      closeButtonProps={{ 'aria-label': text.app.close }}
    >
      <Form eventName={eventName} onClose={onClose} />
    </Modal>
  );
}

function Form({ eventName, onClose }: { eventName: string; onClose: () => void }) {
  const [name, setName] = useState(eventName);
  const [contactId, setContactId] = useState<string>();
  const [data, setData] = useState<Record<string, unknown>>();
  const [isWhole, setWhole] = useState(true);
  const record = useWrite('recordEvent', {
    changes: ['getEventStats', 'listEvents', 'getEventUsage', 'listEventNames'],
  });
  const submit = () => {
    const body = { name: name.trim(), data: data ?? {}, ...(contactId !== undefined && { contactId }) };
    const done = () => {
      notifySuccess(words.sent(body.name));
      onClose();
    };
    record.mutate({ body }, { onSuccess: done });
  };
  return (
    <DialogForm action={words.sendNow} isReady={name.trim() !== '' && isWhole} write={record} onSubmit={submit}>
      <Text size="sm" c="dimmed">
        {words.sendHelp}
      </Text>
      <TextInput
        label={words.sendName}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={255}
        required
        data-autofocus
      />
      <ContactSelect label={words.sendContact} value={contactId} onChange={setContactId} />
      <EventPayload eventName={name} onChange={setData} onWhole={setWhole} />
    </DialogForm>
  );
}
