import { Stack, Text, TextInput } from '@mantine/core';
import { IconMessage } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor, useWrite } from '../../api/queries.ts';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { type Column, PendingRows, RowTable } from '../../parts/row-table.tsx';
import { text } from '../../text/text.ts';
import { AddForm, findFieldError } from './add-form.tsx';
import { RemoveWithUndo } from './remove-with-undo.tsx';

type Sender = ResponseOf<'listSmsSenders'>['data'][number];
const words = text.settings.senders;
const CHANGED = ['listSmsSenders', 'listAuditLog'] as const;

const COLUMNS: Column<Sender>[] = [
  { name: words.country, cell: ({ country }) => country ?? words.anyCountry },
  { name: words.from, cell: ({ from }) => from },
  { name: text.settings.created, cell: ({ createdAt }) => <Instant at={createdAt} />, wideOnly: true },
  { name: text.settings.remove, hidesName: true, align: 'right', cell: (sender) => <Remove sender={sender} /> },
];

/** The phone numbers and sender names for SMS, by country. */
export function Senders() {
  const senders = useQuery(queryFor('listSmsSenders'));
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {words.what}
      </Text>
      <Add />
      <QueryView
        of={senders}
        pending={<PendingRows columns={COLUMNS} caption={text.settings.sections.senders} count={3} />}
      >
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={IconMessage} title={words.emptyTitle} what={words.emptyHelp} />
          ) : (
            <RowTable rows={data} columns={COLUMNS} rowKey={({ id }) => id} caption={text.settings.sections.senders} />
          )
        }
      </QueryView>
    </Stack>
  );
}

function Remove({ sender: { id, country, from } }: { sender: Sender }) {
  const remove = useWrite('deleteSmsSender', { changes: CHANGED });
  const restore = useWrite('createSmsSender', { changes: CHANGED });
  return (
    <RemoveWithUndo
      of={from}
      needs="project:manage"
      isPending={remove.isPending}
      remove={() => remove.mutateAsync({ params: { id } })}
      restore={() => restore.mutateAsync({ body: { country, from } })}
      message={words.removed(from)}
    />
  );
}

function Add() {
  const [country, setCountry] = useState('');
  const [from, setFrom] = useState('');
  const create = useWrite('createSmsSender', { changes: CHANGED });
  const submit = () =>
    create.mutate(
      { body: { country: country.trim() || null, from: from.trim() } },
      {
        onSuccess: () => {
          setCountry('');
          setFrom('');
        },
      },
    );
  return (
    <AddForm needs="project:manage" action={words.add} write={create} isReady={from.trim() !== ''} onSubmit={submit}>
      <TextInput
        label={words.country}
        description={words.countryHelp}
        value={country}
        maxLength={2}
        onChange={(event) => setCountry(event.currentTarget.value)}
        error={findFieldError(create.error, 'country')}
        flex="1 1 200px"
      />
      <TextInput
        label={words.from}
        description={words.fromHelp}
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
        error={findFieldError(create.error, 'from')}
        flex="2 1 240px"
      />
    </AddForm>
  );
}
