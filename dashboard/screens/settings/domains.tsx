import { ActionIcon, Group, Modal, Paper, Stack, Switch, Text, TextInput, Title, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown, IconChevronRight, IconPlus, IconRefresh, IconTrash, IconWorld } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor, useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { ActionButton, useMissingPermissionText } from '../../parts/action-button.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifyFailure, notifySuccess } from '../../parts/notifications.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Status } from '../../parts/status.tsx';
import { useReturnFocus } from '../../parts/use-return-focus.ts';
import { text } from '../../text/text.ts';
import { findFieldError } from './add-form.tsx';
import { DomainRecords } from './domain-records.tsx';

type Domain = ResponseOf<'listDomains'>[number];
const words = text.settings.domains;
const CHANGED = ['listDomains'] as const;
/** The service checks published records automatically; this interval reads its result. */
const POLL_MS = 15_000;
const TONES = { PENDING: 'waiting', VERIFIED: 'done', FAILED: 'failed' } as const;

/** The sending domains of the project, with the DNS records that they need. */
export function Domains() {
  const { projectId } = useSession();
  const domains = useQuery({
    ...queryFor('listDomains', { params: { projectId } }),
    refetchInterval: ({ state }) => (state.data?.some(({ verified }) => !verified) ? POLL_MS : false),
  });
  const [adding, { open, close }] = useDisclosure();
  const add = (
    <ActionButton needs="domains:edit" leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      {words.add}
    </ActionButton>
  );
  const isEmpty = domains.data?.length === 0;
  return (
    <>
      <PageHead
        title={text.settings.sections.domains}
        count={domains.data?.length || undefined}
        subtitle={words.what}
        actions={isEmpty ? undefined : add}
      />
      <QueryView of={domains}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              icon={IconWorld}
              title={words.emptyTitle}
              what={words.emptyHelp}
              action={add}
              curl={{ method: 'POST', path: '/v1/domains', body: { domain: 'example.com' } }}
            />
          ) : (
            <Stack gap="sm">
              {all.map((domain) => (
                <DomainCard key={domain.id} domain={domain} />
              ))}
            </Stack>
          )
        }
      </QueryView>
      {adding && <Add onClose={close} />}
    </>
  );
}

function Add({ onClose }: { onClose: () => void }) {
  useReturnFocus();
  const [domain, setDomain] = useState('');
  const create = useWrite('createDomain', { changes: CHANGED });
  return (
    <Modal opened onClose={onClose} title={words.add} closeButtonProps={{ 'aria-label': text.app.close }}>
      <DialogForm
        action={words.add}
        isReady={domain.trim() !== ''}
        write={create}
        onSubmit={() => create.mutate({ body: { domain: domain.trim() } }, { onSuccess: onClose })}
      >
        <TextInput
          label={words.domain}
          description={words.addHelp}
          value={domain}
          onChange={(event) => setDomain(event.currentTarget.value)}
          error={findFieldError(create.error, 'domain')}
          autoComplete="off"
          data-autofocus
        />
      </DialogForm>
    </Modal>
  );
}

function DomainCard({ domain }: { domain: Domain }) {
  const { id, domain: name, status, signing, lastCheckedAt, records, note } = domain;
  const params = { id };
  const verify = useWrite('verifyDomain', { changes: CHANGED });
  const update = useWrite('updateDomain', { changes: CHANGED });
  const remove = useWrite('deleteDomain', { changes: CHANGED });
  const [isOpen, { toggle }] = useDisclosure(status !== 'VERIFIED');
  const [opened, { open, close }] = useDisclosure();
  const bodyId = useId();
  const whyNot = useMissingPermissionText('domains:edit');
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <Paper withBorder component="section" aria-label={name} style={{ overflow: 'hidden' }}>
      <Group px="sm" py={8} gap="xs" wrap="nowrap" align="flex-start">
        <ActionIcon
          variant="subtle"
          color="gray"
          size={24}
          onClick={toggle}
          aria-expanded={isOpen}
          aria-controls={bodyId}
          aria-label={words.recordsOf(name)}
        >
          <Chevron size={16} aria-hidden />
        </ActionIcon>
        <Group justify="space-between" gap="0 12px" mih={24} miw={0} flex={1}>
          <Group gap="0 12px" miw={0}>
            <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Title>
            <Status tone={TONES[status]} means={words.statusMeans[status]}>
              {words.statuses[status]}
            </Status>
          </Group>
          <Text size="sm" c="dimmed">
            {records.length > 0 && `${words.foundOf(records.filter(({ found }) => found).length, records.length)} · `}
            {words.checked} <Instant at={lastCheckedAt} />
          </Text>
        </Group>
        <MoreMenu of={name}>
          <MoreItem icon={IconTrash} needs="domains:edit" isDestructive onClick={open}>
            {text.settings.remove}
          </MoreItem>
        </MoreMenu>
      </Group>
      {isOpen && (
        <div id={bodyId}>
          <Group justify="space-between" px="md" py={8} gap="xs" className="card-band">
            <Text size="sm" style={{ flex: '1 1 240px' }}>
              {note ?? words.publish}
            </Text>
            <ActionButton
              needs="domains:edit"
              variant="default"
              size="xs"
              leftSection={<IconRefresh size={14} aria-hidden />}
              loading={verify.isPending}
              onClick={() => verify.mutate({ params }, { onError: notifyFailure })}
            >
              {words.check}
            </ActionButton>
          </Group>
          {records.length > 0 && <DomainRecords records={records} domain={name} />}
          <Group px="md" py="sm" className="card-foot">
            <Tooltip label={whyNot} disabled={whyNot === undefined}>
              <Switch
                label={words.signing}
                checked={signing}
                disabled={whyNot !== undefined || update.isPending}
                onChange={(event) =>
                  update.mutate({ params, body: { signing: event.currentTarget.checked } }, { onError: notifyFailure })
                }
              />
            </Tooltip>
          </Group>
        </div>
      )}
      <ConfirmTyped
        opened={opened}
        onClose={close}
        title={words.removeTitle}
        what={words.removeHelp(name)}
        word={name}
        action={text.settings.remove}
        write={remove}
        onConfirm={() => remove.mutate({ params }, { onSuccess: () => notifySuccess(words.removed(name)) })}
      />
    </Paper>
  );
}
