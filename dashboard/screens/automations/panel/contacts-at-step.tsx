import { Anchor, Button, Group, Menu, Paper, Stack, Text } from '@mantine/core';
import { IconRoute, IconUserMinus } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { type ItemOf, infiniteQueryFor, useWrite } from '../../../api/queries.ts';
import { ActionButton, useMissingPermissionText } from '../../../parts/action-button.tsx';
import { ConfirmTyped } from '../../../parts/confirm-typed.tsx';
import { Failed } from '../../../parts/failed.tsx';
import { Instant } from '../../../parts/instant.tsx';
import { MoreItem, MoreMenu } from '../../../parts/more-menu.tsx';
import { notifySuccess, runAfterWrite } from '../../../parts/notifications.tsx';
import { PageFoot } from '../../../parts/page-foot.tsx';
import { PendingLines } from '../../../parts/pending-lines.tsx';
import { WordBadge } from '../../../parts/word-badge.tsx';
import { text } from '../../../text/text.ts';
import type { Step } from '../graph/graph.ts';

const t = text.automations;
const CHANGES = ['listContactsAtStep', 'getWorkflowStats', 'listExecutions', 'getExecution'] as const;
const EVERY_MS = 1_000;

type WaitingContact = ItemOf<'listContactsAtStep'>;

/** Contacts at a step, each with the time until which it waits. The user can end a contact's wait or its run. */
export function ContactsAtStep({ workflowId, step, live }: { workflowId: string; step: Step; live: boolean }) {
  const contactsQuery = infiniteQueryFor('listContactsAtStep', {
    params: { id: workflowId, stepId: step.id },
    query: { limit: 20 },
  });
  const pages = useInfiniteQuery({ ...contactsQuery, refetchInterval: live ? EVERY_MS : false });
  const { data, error, refetch } = pages;
  if (!data) return error ? <Failed error={error} retry={() => void refetch()} /> : <PendingLines />;
  const people = data.pages.flatMap((page) => page.data);
  if (people.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t.noContactsHere}
      </Text>
    );
  }
  return (
    <Stack gap="xs">
      <Stack gap="xs" component="ul" aria-label={t.contactsCaption} p={0} m={0} style={{ listStyle: 'none' }}>
        {people.map((person) => (
          <li key={person.executionId}>
            <ContactRow workflowId={workflowId} step={step} person={person} />
          </li>
        ))}
      </Stack>
      <PageFoot pages={pages} shown={people.length} total={data.pages[0]?.total} />
    </Stack>
  );
}

function ContactRow({ workflowId, step, person }: { workflowId: string; step: Step; person: WaitingContact }) {
  const { executionId, contactId, email, status, startedAt, dueAt, attempts, error } = person;
  const params = { id: workflowId, executionId };
  const advance = useWrite('advanceExecution', { changes: CHANGES });
  const cancel = useWrite('cancelExecution', { changes: CHANGES });
  const [asksOut, setAsksOut] = useState(false);
  const whyNot = useMissingPermissionText('workflows:edit');
  const name = email ?? t.erased;
  const move = (branch?: string) =>
    runAfterWrite(advance.mutateAsync({ params, ...(branch !== undefined && { body: { branch } }) }), () =>
      notifySuccess(t.movedOn),
    );
  const branches = step.type === 'WAIT_FOR_EVENT' ? ['event', 'timeout'] : [];
  return (
    <Paper withBorder p="xs">
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Anchor component={Link} to={`/contacts/${contactId}`} size="sm" truncate>
          {name}
        </Anchor>
        <WordBadge kind="execution" value={status} />
      </Group>
      <Text size="xs" c="dimmed" component="div">
        {t.since} <Instant at={startedAt} /> · {t.due} <Instant at={dueAt} />
        {attempts > 1 && ` · ${t.attempts(attempts)}`}
      </Text>
      {error && (
        <Text size="xs" c="red">
          {error}
        </Text>
      )}
      <Group gap="xs" mt={6}>
        {branches.length === 0 || whyNot ? (
          <ActionButton
            needs="workflows:edit"
            size="compact-xs"
            variant="default"
            loading={advance.isPending}
            onClick={() => move()}
          >
            {t.moveOn}
          </ActionButton>
        ) : (
          branches.map((branch) => (
            <Button
              key={branch}
              size="compact-xs"
              variant="default"
              loading={advance.isPending}
              onClick={() => move(branch)}
            >
              {t.moveBy(branch)}
            </Button>
          ))
        )}
        <MoreMenu of={name}>
          <Menu.Item
            component={Link}
            to={`/messages/executions/${workflowId}/${executionId}`}
            leftSection={<IconRoute size={16} stroke={1.75} aria-hidden />}
          >
            {t.openRun}
          </Menu.Item>
          <MoreItem icon={IconUserMinus} needs="workflows:edit" isDestructive onClick={() => setAsksOut(true)}>
            {t.removeContact}
          </MoreItem>
        </MoreMenu>
      </Group>
      <ConfirmTyped
        opened={asksOut}
        onClose={() => setAsksOut(false)}
        title={t.removeContactTitle}
        what={t.removeContactHelp(name)}
        word={email ?? 'take out'}
        action={t.removeContact}
        write={cancel}
        onConfirm={() =>
          runAfterWrite(
            cancel.mutateAsync({ params }),
            () => {
              setAsksOut(false);
              notifySuccess(t.contactRemoved);
            },
            // The dialog shows the failure.
            () => {},
          )
        }
      />
    </Paper>
  );
}
