import { Alert, Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { queryFor, useWrite } from '../../../api/queries.ts';
import { ignoreDoubleClick } from '../../../parts/action-button.tsx';
import { AppLink } from '../../../parts/app-link.tsx';
import { Failed } from '../../../parts/failed.tsx';
import { text } from '../../../text/text.ts';
import type { Contact } from './contact-type.ts';

const words = text.contacts.send;
const TEMPLATES_MAX = 100;

/** Sends a template to the contact as a single email. */
export function SendEmail({ contact, opened, onClose }: { contact: Contact; opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title={words.title} closeButtonProps={{ 'aria-label': text.app.close }}>
      <Form contact={contact} onClose={onClose} />
    </Modal>
  );
}

function Form({ contact, onClose }: { contact: Contact; onClose: () => void }) {
  const [template, setTemplate] = useState<string | null>(null);
  const [from, setFrom] = useState('');
  const templates = useQuery(queryFor('listTemplates', { query: { pageSize: TEMPLATES_MAX } }));
  const send = useWrite('sendEmail', { changes: ['listContactTimeline', 'listEmails'] });
  const listed = templates.data?.templates ?? [];
  const isMarketing = listed.find(({ id }) => id === template)?.type === 'MARKETING';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (template === null) return;
    send.mutate({ body: { to: contact.email, template, ...(from.trim() !== '' && { from: from.trim() }) } });
  };
  if (send.data) {
    const [sent] = send.data.data.emails;
    return (
      <Stack>
        <Alert color="green" role="status">
          {words.sent} {sent && <AppLink to={`/messages/${sent.email}`}>{words.look}</AppLink>}
        </Alert>
        <Group justify="flex-end">
          <Button onClick={onClose}>{text.app.close}</Button>
        </Group>
      </Stack>
    );
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Select
          label={words.template}
          placeholder={words.pick}
          data={listed.map(({ id, name }) => ({ value: id, label: name }))}
          value={template}
          onChange={setTemplate}
          searchable
          nothingFoundMessage={words.noTemplates}
          comboboxProps={{ withinPortal: true }}
          required
          data-autofocus
        />
        {isMarketing && !contact.subscribed && (
          <Text size="sm" c="dimmed">
            {words.marketing}
          </Text>
        )}
        <TextInput
          label={words.from}
          description={words.fromHelp}
          inputMode="email"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        {templates.error && <Failed error={templates.error} />}
        {send.error && <Failed error={send.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {text.parts.cancel}
          </Button>
          <Button type="submit" loading={send.isPending} disabled={template === null} onClick={ignoreDoubleClick()}>
            {words.send}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
