import { TagsInput, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queryFor, useWrite } from '../../api/queries.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { text } from '../../text/text.ts';
import { SecretDialog } from './secret-dialog.tsx';

const words = text.developers.webhooks;
const PATTERNS = ['*', 'email.*', 'contact.*', 'segment.*'];
const SUGGESTED = 500;

/** Creates an endpoint and shows its secret once. */
export function NewWebhook({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const create = useWrite('createWebhook', { changes: ['listWebhooks'] });
  const close = () => {
    create.reset();
    onClose();
  };
  return (
    <SecretDialog
      opened={opened}
      onClose={close}
      title={words.createTitle}
      createdTitle={words.createdTitle}
      operation="createWebhook"
      secret={create.data?.secret}
    >
      <Form write={create} onCreate={(body) => create.mutate({ body })} />
    </SecretDialog>
  );
}

interface NewEndpoint {
  url: string;
  events: string[];
  description: string | null;
}

function Form({
  write,
  onCreate,
}: {
  write: { isPending: boolean; error: unknown };
  onCreate: (body: NewEndpoint) => void;
}) {
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState<string[]>(['*']);
  const [description, setDescription] = useState('');
  const names = useQuery(queryFor('listEventNames')).data?.eventNames ?? [];
  return (
    <DialogForm
      action={words.create}
      isReady={url.trim() !== '' && events.length > 0}
      write={write}
      onSubmit={() => onCreate({ url: url.trim(), events, description: description.trim() || null })}
    >
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
        description={words.eventsHelp}
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
    </DialogForm>
  );
}
