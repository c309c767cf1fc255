import { Alert, Code, Group, Paper, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBan, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor, useWrite } from '../../api/queries.ts';
import { ActionButton, useWhyNot } from '../../parts/action-button.tsx';
import { AppLink } from '../../parts/app-link.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { type Column, RowTable } from '../../parts/row-table.tsx';
import { Status, Tag } from '../../parts/status.tsx';
import { tellDone } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';
import { DevelopersHead } from './developers-head.tsx';
import { NewKey } from './new-key.tsx';

type Key = ResponseOf<'listApiKeys'>['data'][number];

const words = text.developers.keys;
const NEEDS = 'apikeys:manage';

/** The secret keys of the project, including expired ones. */
export function Keys() {
  const whyNot = useWhyNot(NEEDS);
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <DevelopersHead
        tab="keys"
        actions={
          <ActionButton needs={NEEDS} leftSection={<IconPlus size={16} />} onClick={open}>
            {words.new}
          </ActionButton>
        }
      />
      {whyNot ? <Alert title={words.notAllowed}>{whyNot}</Alert> : <List />}
      <PublicKey />
      <NewKey opened={opened} onClose={close} />
    </>
  );
}

function List() {
  const keys = useQuery(queryFor('listApiKeys'));
  const [revoked, revoke] = useState<Key>();
  return (
    <QueryView of={keys}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title={words.emptyTitle} what={words.emptyWhat} />
        ) : (
          <>
            <RowTable rows={data} columns={columnsOf(revoke)} rowKey={({ id }) => id} caption={words.caption} />
            {revoked && <Revoke of={revoked} onClose={() => revoke(undefined)} />}
          </>
        )
      }
    </QueryView>
  );
}

function stateOf({ revokedAt, expiresAt }: Key): 'active' | 'revoked' | 'expired' {
  if (revokedAt) return 'revoked';
  return expiresAt && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}

function columnsOf(revoke: (key: Key) => void): Column<Key>[] {
  return [
    { name: text.developers.name, cell: (key) => <Named of={key} /> },
    {
      name: words.scopes,
      cell: ({ scopes }) => (
        <Text size="sm" lineClamp={3} title={scopes.join(', ')}>
          {scopes.join(', ') || text.developers.none}
        </Text>
      ),
      wideOnly: true,
    },
    {
      name: words.lastUsed,
      cell: ({ id, lastUsedAt }) => (
        <>
          <Text size="sm">
            <Instant at={lastUsedAt} none={words.never} />
          </Text>
          <AppLink to={`/developers/requests?keyId=${id}`} size="xs">
            {words.requests}
          </AppLink>
        </>
      ),
    },
    { name: words.created, cell: ({ createdAt }) => <Instant at={createdAt} />, wideOnly: true },
    {
      name: words.revoke,
      head: ' ',
      align: 'right',
      isWhole: true,
      cell: (key) =>
        stateOf(key) !== 'revoked' && (
          <MoreMenu of={key.name}>
            <MoreItem icon={IconBan} needs={NEEDS} isDestructive onClick={() => revoke(key)}>
              {words.revoke}
            </MoreItem>
          </MoreMenu>
        ),
    },
  ];
}

function Named({ of: key }: { of: Key }) {
  const state = stateOf(key);
  return (
    <>
      <Text fw={550} size="sm" lineClamp={3}>
        {key.name}
      </Text>
      <Group gap={6} mt={2}>
        <Code>{key.prefix}…</Code>
        <Tag means={words.modesMean[key.mode]}>{words.modes[key.mode]}</Tag>
        <Status tone={state === 'active' ? 'done' : 'idle'}>{words.states[state]}</Status>
      </Group>
      {key.expiresAt && state === 'active' && (
        <Text size="xs" c="dimmed">
          {words.expires} <Instant at={key.expiresAt} />
        </Text>
      )}
    </>
  );
}

function Revoke({ of: key, onClose }: { of: Key; onClose: () => void }) {
  const revoke = useWrite('revokeApiKey', { changes: ['listApiKeys'] });
  const done = () => {
    tellDone(words.revoked(key.name));
    onClose();
  };
  return (
    <ConfirmTyped
      opened
      onClose={onClose}
      title={words.revokeTitle}
      what={words.revokeWhat(key.name)}
      word={key.prefix}
      action={words.revoke}
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate({ params: { id: key.id } }, { onSuccess: done })}
    />
  );
}

function PublicKey() {
  const whyNot = useWhyNot('project:manage');
  return (
    <Paper withBorder p="md" mt="lg">
      <Title order={2} size="h4">
        {words.publicTitle}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {words.publicWhat}
      </Text>
      {whyNot ? <Text size="sm">{whyNot}</Text> : <PublicKeyItself />}
    </Paper>
  );
}

function PublicKeyItself() {
  const project = useQuery(queryFor('getProject'));
  return (
    <QueryView of={project} height={40}>
      {({ public: publicKey }) => (
        <Group gap="xs" wrap="nowrap">
          <Code style={{ overflowWrap: 'anywhere' }}>{publicKey}</Code>
          <CopyButton value={publicKey} />
        </Group>
      )}
    </QueryView>
  );
}
