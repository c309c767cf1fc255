import { Stack, Table, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AnswerOf } from '../../api/client.ts';
import { answerOf, useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Answer } from '../../parts/answer.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import { tellFailure, tellUndoable } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';
import { AddForm, faultIn } from './add-form.tsx';

type Sender = AnswerOf<'listSmsSenders'>['data'][number];
const words = text.settings.senders;
const CHANGED = ['listSmsSenders', 'listAuditLog'] as const;

/** From which numbers and names SMS come, by country. */
export function Senders() {
  const senders = useQuery(answerOf('listSmsSenders'));
  return (
    <Stack>
      <Text c="dimmed">{words.what}</Text>
      <Add />
      <Answer of={senders}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={words.emptyTitle} what={words.emptyWhat} />
          ) : (
            <Table.ScrollContainer minWidth={320} type="native">
              <Table verticalSpacing="xs" aria-label={text.settings.sections.senders}>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{words.country}</Table.Th>
                    <Table.Th>{words.from}</Table.Th>
                    <Table.Th visibleFrom="sm">{text.settings.created}</Table.Th>
                    <Table.Th aria-label={text.settings.remove} />
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {data.map((sender) => (
                    <Row key={sender.id} sender={sender} />
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </Answer>
    </Stack>
  );
}

function Row({ sender: { id, country, from, createdAt } }: { sender: Sender }) {
  const remove = useWrite('deleteSmsSender', { changes: CHANGED });
  const putBack = useWrite('createSmsSender', { changes: CHANGED });
  const undo = () => putBack.mutate({ body: { country, from } }, { onError: tellFailure });
  return (
    <Table.Tr>
      <Table.Td>{country ?? words.anyCountry}</Table.Td>
      <Table.Td>{from}</Table.Td>
      <Table.Td visibleFrom="sm">
        <Instant at={createdAt} />
      </Table.Td>
      <Table.Td ta="right">
        <ActionButton
          needs="project:manage"
          size="compact-sm"
          variant="light"
          color="red"
          loading={remove.isPending}
          onClick={() =>
            remove.mutate(
              { params: { id } },
              { onError: tellFailure, onSuccess: () => tellUndoable(words.removed(from), undo) },
            )
          }
        >
          {text.settings.remove}
        </ActionButton>
      </Table.Td>
    </Table.Tr>
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
    <AddForm
      label={words.add}
      needs="project:manage"
      action={words.add}
      isPending={create.isPending}
      isReady={from.trim() !== ''}
      failure={create.error}
      onSubmit={submit}
    >
      <TextInput
        label={words.country}
        description={words.countryWhat}
        value={country}
        maxLength={2}
        onChange={(event) => setCountry(event.currentTarget.value)}
        error={faultIn(create.error, 'country')}
        flex="1 1 200px"
      />
      <TextInput
        label={words.from}
        description={words.fromWhat}
        value={from}
        onChange={(event) => setFrom(event.currentTarget.value)}
        error={faultIn(create.error, 'from')}
        flex="2 1 240px"
      />
    </AddForm>
  );
}
