import { Group, Paper, Stack, Switch, Text, TextInput, Title, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor, useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { ActionButton, useWhyNot } from '../../parts/action-button.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Status } from '../../parts/status.tsx';
import { tellDone, tellFailure } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';
import { AddForm, faultIn } from './add-form.tsx';
import { DomainRecords } from './domain-records.tsx';

type Domain = ResponseOf<'listDomains'>[number];
const words = text.settings.domains;
const CHANGED = ['listDomains'] as const;
/** The service checks published records automatically; this interval reads its result. */
const LOOK_AGAIN_MS = 15_000;
const TONES = { PENDING: 'waiting', VERIFIED: 'done', FAILED: 'failed' } as const;

/** The sending domains of the project, with the DNS records that they need. */
export function Domains() {
  const { projectId } = useSession();
  const domains = useQuery({
    ...queryFor('listDomains', { params: { projectId } }),
    refetchInterval: ({ state }) => (state.data?.some(({ verified }) => !verified) ? LOOK_AGAIN_MS : false),
  });
  return (
    <Stack>
      <Text c="dimmed">{words.what}</Text>
      <Add />
      <QueryView of={domains}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              title={words.emptyTitle}
              what={words.emptyWhat}
              curl={{ method: 'POST', path: '/domains', body: { domain: 'example.com' } }}
            />
          ) : (
            all.map((domain) => <One key={domain.id} domain={domain} />)
          )
        }
      </QueryView>
    </Stack>
  );
}

function Add() {
  const [domain, setDomain] = useState('');
  const create = useWrite('createDomain', { changes: CHANGED });
  return (
    <AddForm
      needs="domains:edit"
      action={words.add}
      write={create}
      isReady={domain.trim() !== ''}
      onSubmit={() => create.mutate({ body: { domain: domain.trim() } }, { onSuccess: () => setDomain('') })}
    >
      <TextInput
        label={words.domain}
        description={words.addWhat}
        value={domain}
        onChange={(event) => setDomain(event.currentTarget.value)}
        error={faultIn(create.error, 'domain')}
        flex="1 1 240px"
        autoComplete="off"
      />
    </AddForm>
  );
}

function One({ domain }: { domain: Domain }) {
  const { id, domain: name, status, signing, lastCheckedAt, records, note } = domain;
  const params = { id };
  const verify = useWrite('verifyDomain', { changes: CHANGED });
  const update = useWrite('updateDomain', { changes: CHANGED });
  const remove = useWrite('deleteDomain', { changes: CHANGED });
  const [opened, { open, close }] = useDisclosure();
  const whyNot = useWhyNot('domains:edit');
  return (
    <Paper withBorder p="md" component="section" aria-label={name}>
      <Group justify="space-between" mb="sm" align="flex-start">
        <div>
          <Group gap="xs">
            <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Title>
            <Status tone={TONES[status]} means={words.statusMeans[status]}>
              {words.statuses[status]}
            </Status>
          </Group>
          <Text size="sm" c="dimmed">
            {words.checked} <Instant at={lastCheckedAt} />
          </Text>
        </div>
        <Group gap="xs">
          <ActionButton
            needs="domains:edit"
            variant="default"
            size="xs"
            loading={verify.isPending}
            onClick={() => verify.mutate({ params }, { onError: tellFailure })}
          >
            {words.check}
          </ActionButton>
          <MoreMenu of={name}>
            <MoreItem icon={IconTrash} needs="domains:edit" isDestructive onClick={open}>
              {text.settings.remove}
            </MoreItem>
          </MoreMenu>
        </Group>
      </Group>
      <DomainRecords records={records} note={note} domain={name} />
      <Tooltip label={whyNot} disabled={whyNot === undefined}>
        <Switch
          mt="sm"
          label={words.signing}
          checked={signing}
          disabled={whyNot !== undefined || update.isPending}
          onChange={(event) =>
            update.mutate({ params, body: { signing: event.currentTarget.checked } }, { onError: tellFailure })
          }
        />
      </Tooltip>
      <ConfirmTyped
        opened={opened}
        onClose={close}
        title={words.removeTitle}
        what={words.removeWhat(name)}
        word={name}
        action={text.settings.remove}
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ params }, { onSuccess: () => tellDone(words.removed(name)) })}
      />
    </Paper>
  );
}
