import { Alert, Code, Group, Paper, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconBan, IconKey, IconListDetails, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor, useWrite } from '../../api/queries.ts';
import { ActionButton, useMissingPermissionText } from '../../parts/action-button.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { formatExactTime, Instant } from '../../parts/instant.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { type Column, PendingRows, RowTable } from '../../parts/row-table.tsx';
import { Status, Tag } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { DevelopersHead } from './developers-head.tsx';
import { NewKey } from './new-key.tsx';

type Key = ResponseOf<'listApiKeys'>['data'][number];

const words = text.developers.keys;
const NEEDS = 'apikeys:manage';

/** The secret keys of the project, including expired and revoked keys, and its publishable key. */
export function Keys() {
  const whyNot = useMissingPermissionText(NEEDS);
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <DevelopersHead
        tab="keys"
        actions={
          <ActionButton needs={NEEDS} leftSection={<IconPlus size={16} />} onClick={open}>
            {words.create}
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
  const [keyToRevoke, setKeyToRevoke] = useState<Key>();
  const columns = createColumns(setKeyToRevoke);
  return (
    <QueryView of={keys} pending={<PendingRows columns={columns} caption={words.caption} count={3} />}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty icon={IconKey} title={words.emptyTitle} what={words.emptyHelp} />
        ) : (
          <>
            <RowTable rows={data} columns={columns} rowKey={({ id }) => id} caption={words.caption} />
            {keyToRevoke && <Revoke of={keyToRevoke} onClose={() => setKeyToRevoke(undefined)} />}
          </>
        )
      }
    </QueryView>
  );
}

function getKeyState({ revokedAt, expiresAt }: Key): 'active' | 'revoked' | 'expired' {
  if (revokedAt) return 'revoked';
  return expiresAt && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}

function createColumns(revoke: (key: Key) => void): Column<Key>[] {
  return [
    { name: text.developers.name, isMain: true, cell: (key) => <KeyName of={key} /> },
    { name: words.key, wideOnly: true, width: 150, cell: ({ prefix }) => <Code>{prefix}…</Code>, isWhole: true },
    {
      name: words.mode,
      wideOnly: true,
      width: 80,
      cell: ({ mode }) => <Tag means={words.modesMean[mode]}>{words.modes[mode]}</Tag>,
    },
    { name: words.scopes, wideOnly: true, cell: ({ scopes }) => <Scopes scopes={scopes} /> },
    { name: words.state, width: 110, cell: (key) => <State of={key} />, isWhole: true },
    {
      name: words.lastUsed,
      wideOnly: true,
      width: 110,
      cell: ({ lastUsedAt }) => <Instant at={lastUsedAt} none={words.never} />,
    },
    { name: words.created, wideOnly: true, width: 110, cell: ({ createdAt }) => <Instant at={createdAt} /> },
    {
      name: words.revoke,
      hidesName: true,
      align: 'right',
      width: 48,
      isWhole: true,
      cell: (key) => <Actions of={key} onRevoke={() => revoke(key)} />,
    },
  ];
}

function KeyName({ of: { name, prefix } }: { of: Key }) {
  return (
    <>
      <Text inherit fw={500} lineClamp={2} title={name}>
        {name}
      </Text>
      <Code hiddenFrom="sm">{prefix}…</Code>
    </>
  );
}

function State({ of: key }: { of: Key }) {
  const state = getKeyState(key);
  const means = state === 'active' && key.expiresAt ? `${words.expires} ${formatExactTime(key.expiresAt)}` : undefined;
  return (
    <Status tone={state === 'active' ? 'done' : 'idle'} means={means}>
      {words.states[state]}
    </Status>
  );
}

/** The number of scopes to name; the others are counted. All are shown on hover. */
const SCOPES_NAMED = 2;

function Scopes({ scopes }: { scopes: string[] }) {
  const more = scopes.length - SCOPES_NAMED;
  return (
    <Text span inherit title={scopes.join(', ')}>
      {scopes.slice(0, SCOPES_NAMED).join(', ') || words.nothing}
      {more > 0 && (
        <Text span inherit c="dimmed">
          {' '}
          {words.more(more)}
        </Text>
      )}
    </Text>
  );
}

function Actions({ of: key, onRevoke }: { of: Key; onRevoke: () => void }) {
  const navigate = useNavigate();
  return (
    <MoreMenu of={key.name}>
      <MoreItem
        icon={IconListDetails}
        onClick={() => void navigate({ to: '/developers/requests', search: { keyId: key.id } })}
      >
        {words.requests}
      </MoreItem>
      {getKeyState(key) !== 'revoked' && (
        <MoreItem icon={IconBan} needs={NEEDS} isDestructive onClick={onRevoke}>
          {words.revoke}
        </MoreItem>
      )}
    </MoreMenu>
  );
}

function Revoke({ of: key, onClose }: { of: Key; onClose: () => void }) {
  const revoke = useWrite('revokeApiKey', { changes: ['listApiKeys'] });
  const done = () => {
    notifySuccess(words.revoked(key.name));
    onClose();
  };
  return (
    <ConfirmTyped
      opened
      onClose={onClose}
      title={words.revokeTitle}
      what={words.revokeHelp(key.name)}
      word={key.prefix}
      action={words.revoke}
      write={revoke}
      onConfirm={() => revoke.mutate({ params: { id: key.id } }, { onSuccess: done })}
    />
  );
}

function PublicKey() {
  const whyNot = useMissingPermissionText('project:manage');
  return (
    <Paper withBorder p="md" mt="lg">
      <Title order={2} size="h4">
        {words.publicTitle}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {words.publicHelp}
      </Text>
      {whyNot ? <Text size="sm">{whyNot}</Text> : <PublicKeyCode />}
    </Paper>
  );
}

function PublicKeyCode() {
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
