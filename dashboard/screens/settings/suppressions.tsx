import { Badge, Select, Stack, Text, TextInput, Tooltip } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { AnswerOf } from '../../api/client.ts';
import { pagesOf, useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { type Column, CursorTable } from '../../parts/cursor-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import { tellDone, tellFailure, tellUndoable } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';
import { AddForm, faultIn } from './add-form.tsx';

type Suppression = AnswerOf<'listSuppressions'>['data'][number];
type Reason = Suppression['reason'];
const words = text.settings.suppressions;
const CHANGED = ['listSuppressions', 'getContact'] as const;
const REASONS = (['manual', 'unsubscribe', 'complaint', 'hard_bounce'] as const).map((value) => ({
  ...{ value, label: `${value}: ${words.reasons[value].means}` },
}));

const COLUMNS: Column<Suppression>[] = [
  { name: words.email, cell: ({ email }) => email ?? <Text c="dimmed">{words.erased}</Text> },
  { name: words.reason, cell: ({ reason }) => <ReasonBadge reason={reason} /> },
  { name: words.source, cell: ({ source }) => source, wideOnly: true },
  { name: text.settings.created, cell: ({ createdAt }) => <Instant at={createdAt} />, wideOnly: true },
  { name: text.settings.remove, head: ' ', align: 'right', cell: (entry) => <TakeOff entry={entry} /> },
];

/** Addresses that get no mail, or no marketing. Which is looked for is in the address of the page. */
export function Suppressions() {
  const { email } = useSearch({ strict: false });
  const navigate = useNavigate();
  const pages = useInfiniteQuery(pagesOf('listSuppressions', { query: { limit: 50, ...(email && { email }) } }));
  const search = useDebouncedCallback((given: string) => {
    const params = { section: 'suppressions' };
    void navigate({ to: '/settings/$section', params, search: given ? { email: given } : {}, replace: true });
  }, 250);
  return (
    <Stack>
      <Text c="dimmed">{words.what}</Text>
      <Add />
      <TextInput
        aria-label={words.search}
        placeholder={words.search}
        leftSection={<IconSearch size={16} />}
        defaultValue={email ?? ''}
        onChange={(event) => search(event.currentTarget.value.trim())}
        maw={420}
      />
      <CursorTable
        pages={pages}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        caption={text.settings.sections.suppressions}
        empty={
          <Empty
            title={words.emptyTitle}
            what={words.emptyWhat}
            curl={{ method: 'POST', path: '/suppressions', body: { email: 'ada@example.com', reason: 'manual' } }}
          />
        }
      />
    </Stack>
  );
}

function ReasonBadge({ reason }: { reason: Reason }) {
  return (
    <Tooltip label={words.reasons[reason].means} multiline maw={260} events={{ hover: true, focus: true, touch: true }}>
      <Badge variant="light" color="gray" tt="none" radius="sm" tabIndex={0}>
        {reason}
      </Badge>
    </Tooltip>
  );
}

/** Takes an address off at once; for ten seconds it can be put back, as it was. */
function TakeOff({ entry: { email, reason } }: { entry: Suppression }) {
  const remove = useWrite('deleteSuppression', { changes: CHANGED });
  const putBack = useWrite('addSuppression', { changes: CHANGED });
  if (email === null) return null;
  const undo = () => putBack.mutate({ body: { email, reason } }, { onError: tellFailure });
  return (
    <ActionButton
      needs="contacts:edit"
      size="compact-sm"
      variant="light"
      color="red"
      loading={remove.isPending}
      onClick={() =>
        remove.mutate(
          { params: { email } },
          { onError: tellFailure, onSuccess: () => tellUndoable(words.takenOff(email), undo) },
        )
      }
    >
      {text.settings.remove}
    </ActionButton>
  );
}

function Add() {
  const [email, setEmail] = useState('');
  const [reason, setReason] = useState<Reason>('manual');
  const add = useWrite('addSuppression', { changes: CHANGED });
  const done = () => {
    tellDone(words.added(email.trim()));
    setEmail('');
  };
  return (
    <AddForm
      label={words.add}
      needs="contacts:edit"
      action={words.add}
      isPending={add.isPending}
      isReady={email.trim() !== ''}
      failure={add.error}
      onSubmit={() => add.mutate({ body: { email: email.trim(), reason } }, { onSuccess: done })}
    >
      <TextInput
        label={words.email}
        type="email"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        error={faultIn(add.error, 'email')}
        flex="1 1 220px"
        autoComplete="off"
      />
      <Select
        label={words.reason}
        data={REASONS}
        value={reason}
        onChange={(next) => next && setReason(next as Reason)}
        allowDeselect={false}
        flex="1 1 220px"
      />
    </AddForm>
  );
}
