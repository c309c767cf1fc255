import { JsonInput, Modal, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { ContactSelect } from '../../parts/contact-select.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { tellDone } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';

const words = text.developers.events;

/** Records an event by hand, of a contact or of nobody. */
export function SendEvent({
  opened,
  onClose,
  eventName = '',
}: {
  opened: boolean;
  onClose: () => void;
  /** Filled in already. */
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
  const [data, setData] = useState('{}');
  const record = useWrite('recordEvent', {
    changes: ['getEventStats', 'listEvents', 'getEventUsage', 'listEventNames'],
  });
  const parsed = objectIn(data);
  const submit = () => {
    if (!parsed) return;
    const body = { name: name.trim(), data: parsed, ...(contactId !== undefined && { contactId }) };
    const done = () => {
      tellDone(words.sent(body.name));
      onClose();
    };
    record.mutate({ body }, { onSuccess: done });
  };
  return (
    <DialogForm
      action={words.sendNow}
      isReady={name.trim() !== '' && parsed !== undefined}
      write={record}
      onSubmit={submit}
    >
      <Text size="sm" c="dimmed">
        {words.sendWhat}
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
      <JsonInput
        label={words.sendData}
        value={data}
        onChange={setData}
        error={parsed ? undefined : words.notJson}
        formatOnBlur
        autosize
        minRows={4}
        maxRows={14}
      />
    </DialogForm>
  );
}

/** The JSON object in a text; undefined where it is none. */
function objectIn(given: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(given.trim() || '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined; // Half typed.
  }
}
