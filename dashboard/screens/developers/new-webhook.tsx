import { Button, Group, Modal, Stack, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { answerOf, useWrite } from '../../api/queries.ts';
import { Failed } from '../../parts/failed.tsx';
import { text } from '../../text/text.ts';
import { SecretOnce } from './secret-once.tsx';

const words = text.developers.webhooks;
const PATTERNS = ['*', 'email.*', 'contact.*', 'segment.*'];
const SUGGESTED = 500;

/** Registers an endpoint, and shows its secret once. */
export function NewWebhook({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const create = useWrite('createWebhook', { changes: ['listWebhooks'] });
  const close = () => {
    create.reset();
    onClose();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={create.data ? words.made : words.createTitle}
      size="lg"
      closeButtonProps={{ 'aria-label': text.app.close }}
    >
      {create.data ? (
        <SecretOnce secret={create.data.secret} operation="createWebhook" onDone={close} />
      ) : (
        <Form onCreate={(body) => create.mutate({ body })} isPending={create.isPending} error={create.error} />
      )}
    </Modal>
  );
}

interface Given {
  url: string;
  events: string[];
  description: string | null;
}

function Form({ onCreate, isPending, error }: { onCreate: (body: Given) => void; isPending: boolean; error: unknown }) {
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState<string[]>(['*']);
  const [description, setDescription] = useState('');
  const names = useQuery(answerOf('listEventNames')).data?.eventNames ?? [];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onCreate({ url: url.trim(), events, description: description.trim() || null });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={words.url}
          type="url"
          placeholder="https://example.com/hooks"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
          maxLength={2_000}
          required
          data-autofocus
        />
        <TagsInput
          label={words.events}
          description={words.eventsWhat}
          value={events}
          onChange={setEvents}
          data={[...new Set([...PATTERNS, ...names.slice(0, SUGGESTED)])]}
          maxTags={50}
          acceptValueOnBlur
          maxDropdownHeight={240}
          clearable
          clearButtonProps={{ 'aria-label': text.parts.clear }}
        />
        <Textarea
          label={words.description}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
          maxLength={500}
          autosize
          maxRows={4}
        />
        {error !== null && error !== undefined && <Failed error={error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={isPending} disabled={url.trim() === '' || events.length === 0}>
            {words.create}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
