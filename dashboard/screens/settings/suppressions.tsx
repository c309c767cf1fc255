import { Select, Stack, Text, TextInput } from '@mantine/core';
import { IconBan } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { infiniteQueryFor, useWrite } from '../../api/queries.ts';
import { Breakable } from '../../parts/breakable.tsx';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { WordBadge, WordText } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { findWord, getLabel } from '../../text/words.ts';
import { AddForm, findFieldError } from './add-form.tsx';
import { RemoveWithUndo } from './remove-with-undo.tsx';

type Suppression = ResponseOf<'listSuppressions'>['data'][number];
type Reason = Suppression['reason'];
const words = text.settings.suppressions;
const CHANGED = ['listSuppressions', 'getContact'] as const;
const ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
const REASONS = ['manual', 'unsubscribe', 'complaint', 'hard_bounce'] as const;

const COLUMNS: Column<Suppression>[] = [
  {
    name: words.email,
    isMain: true,
    cell: ({ email }) =>
      email ? (
        <div className="name-cell">
          <span>
            <Breakable text={email} />
          </span>
        </div>
      ) : (
        <Text c="dimmed">{words.erased}</Text>
      ),
  },
  { name: words.reason, cell: ({ reason }) => <WordBadge kind="suppression" value={reason} /> },
  { name: words.source, cell: ({ source }) => <WordText kind="source" value={source} />, wideOnly: true },
  { name: text.settings.created, cell: ({ createdAt }) => <Instant at={createdAt} />, wideOnly: true },
  { name: text.settings.remove, hidesName: true, align: 'right', cell: (entry) => <RemoveFromList entry={entry} /> },
];

/** Addresses that get no email, or no marketing email. The search is in the URL. */
export function Suppressions() {
  const { email } = useSearch({ strict: false });
  const navigate = useNavigate();
  // The API stores hashes of the addresses, so it finds only full addresses, and refuses other input.
  const isAddress = email !== undefined && ADDRESS.test(email);
  const pages = useInfiniteQuery(
    infiniteQueryFor('listSuppressions', { query: { limit: 50, ...(isAddress && { email }) } }),
  );
  const search = (typed: string | undefined) => {
    const params = { section: 'suppressions' };
    void navigate({ to: '/settings/$section', params, search: typed ? { email: typed } : {}, replace: true });
  };
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {words.what}
      </Text>
      <Add />
      <SearchField label={words.search} placeholder={words.search} value={email} onChange={search} />
      {email !== undefined && !isAddress && (
        <Text size="sm" c="dimmed">
          {words.searchHelp}
        </Text>
      )}
      <CursorTable
        pages={pages}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        caption={text.settings.sections.suppressions}
        empty={
          isAddress ? (
            <Text c="dimmed">{words.noneFound}</Text>
          ) : (
            <Empty
              icon={IconBan}
              title={words.emptyTitle}
              what={words.emptyHelp}
              curl={{ method: 'POST', path: '/v1/suppressions', body: { email: 'ada@example.com', reason: 'manual' } }}
            />
          )
        }
      />
    </Stack>
  );
}

function RemoveFromList({ entry: { email, reason } }: { entry: Suppression }) {
  const remove = useWrite('deleteSuppression', { changes: CHANGED });
  const restore = useWrite('addSuppression', { changes: CHANGED });
  if (email === null) return null;
  return (
    <RemoveWithUndo
      of={email}
      needs="contacts:edit"
      isPending={remove.isPending}
      remove={() => remove.mutateAsync({ params: { email } })}
      restore={() => restore.mutateAsync({ body: { email, reason } })}
      message={words.removedFromList(email)}
    />
  );
}

function Add() {
  const [email, setEmail] = useState('');
  const [reason, setReason] = useState<Reason>('manual');
  const add = useWrite('addSuppression', { changes: CHANGED });
  const done = () => {
    notifySuccess(words.added(email.trim()));
    setEmail('');
  };
  return (
    <AddForm
      needs="contacts:edit"
      action={words.add}
      write={add}
      isReady={email.trim() !== ''}
      onSubmit={() => add.mutate({ body: { email: email.trim(), reason } }, { onSuccess: done })}
    >
      <TextInput
        label={words.email}
        inputMode="email"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={findFieldError(add.error, 'email')}
        flex="1 1 220px"
        autoComplete="off"
      />
      <Select
        label={words.reason}
        description={findWord('suppression', reason)?.means}
        data={REASONS.map((value) => ({ value, label: getLabel('suppression', value) }))}
        value={reason}
        onChange={(next) => next && setReason(next as Reason)}
        allowDeselect={false}
        flex="1 1 220px"
      />
    </AddForm>
  );
}
