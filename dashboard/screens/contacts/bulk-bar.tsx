import { Box, Button, Group, Menu, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { InputOf } from '../../api/client.ts';
import { queryFor, useWrite } from '../../api/queries.ts';
import { ActionButton, useMissingPermissionText } from '../../parts/action-button.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifySuccess, notifyWithUndo, runAfterWrite } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import { waitForJobEnd } from './jobs/job-end.ts';
import type { ListSearch } from './routes.ts';
import type { ListedContact, Selection } from './selection.ts';

const words = text.contacts.bulk;
/** Limits of the API. */
const PICKED_MAX = 1_000;
const SEGMENT_MAX = 500;

type Operation = 'subscribe' | 'unsubscribe' | 'erase';
type Body = InputOf<'bulkDeleteContacts'>['body'];

/**
 * Actions on the selected contacts. Subscribing, unsubscribing and deleting run as jobs, which continue after the user
 * leaves.
 */
export function BulkBar({
  selection,
  shown,
  total,
  where,
}: {
  selection: Selection;
  shown: ListedContact[];
  total: number | null;
  where: ListSearch;
}) {
  const [operationToConfirm, setOperationToConfirm] = useState<Operation>();
  const bulk = useBulkActions(selection);
  const { picked, all } = selection;
  if (picked.size === 0 && !all) return null;
  const count = all ? total : picked.size;
  const selectionText = all ? words.allMeant(total) : words.selected(picked.size);
  const body: Body = all
    ? { where: where.search || where.condition ? where : { all: true } }
    : { contactIds: [...picked.keys()] };
  const whyNot = !all && picked.size > PICKED_MAX ? words.tooMany : undefined;
  const change = (operation: 'subscribe' | 'unsubscribe') =>
    all ? setOperationToConfirm(operation) : bulk.change(operation, [...picked.values()]);
  const canHaveAll = !all && total !== null && total > picked.size && picked.size >= shown.length;
  return (
    <Box className="bulk-bar" role="region" aria-label={selectionText}>
      <Group gap="xs">
        <Text size="sm" fw={500} aria-live="polite">
          {selectionText}
        </Text>
        {canHaveAll && (
          <Button size="compact-sm" variant="subtle" onClick={selection.pickAll}>
            {words.selectAll(total)}
          </Button>
        )}
        <ActionButton
          size="compact-sm"
          variant="default"
          needs="contacts:edit"
          whyNot={whyNot}
          onClick={() => change('subscribe')}
        >
          {words.subscribe}
        </ActionButton>
        <ActionButton
          size="compact-sm"
          variant="default"
          needs="contacts:edit"
          whyNot={whyNot}
          onClick={() => change('unsubscribe')}
        >
          {words.unsubscribe}
        </ActionButton>
        <AddToSegment selection={selection} />
        <MoreMenu of={words.selectedContacts}>
          <MoreItem
            icon={IconTrash}
            needs="contacts:edit"
            whyNot={whyNot}
            isDestructive
            onClick={() => setOperationToConfirm('erase')}
          >
            {words.erase}
          </MoreItem>
        </MoreMenu>
        <Button size="compact-sm" variant="subtle" color="gray" onClick={selection.clear}>
          {words.clear}
        </Button>
      </Group>
      <ConfirmTyped
        key={operationToConfirm}
        opened={operationToConfirm !== undefined}
        onClose={() => setOperationToConfirm(undefined)}
        title={
          operationToConfirm === 'subscribe' || operationToConfirm === 'unsubscribe'
            ? words.changeTitle[operationToConfirm]
            : words.eraseTitle
        }
        what={
          operationToConfirm === 'subscribe' || operationToConfirm === 'unsubscribe'
            ? words.changeHelp[operationToConfirm](selectionText)
            : words.eraseHelp(selectionText)
        }
        word={String(count ?? words.erase)}
        action={words[operationToConfirm ?? 'erase']}
        write={bulk}
        onConfirm={() => operationToConfirm && bulk.run(operationToConfirm, body)}
      />
    </Box>
  );
}

/**
 * Returns functions that start jobs. `run` opens the progress of the job. `change` is for contacts that were selected
 * one by one: its Undo starts the opposite change for the contacts that changed.
 */
function useBulkActions(selection: Selection) {
  const navigate = useNavigate();
  const changes = ['listContactJobs'] as const;
  const starts = {
    subscribe: useWrite('bulkSubscribeContacts', { changes }),
    unsubscribe: useWrite('bulkUnsubscribeContacts', { changes }),
    erase: useWrite('bulkDeleteContacts', { changes }),
  };
  const all = Object.values(starts);
  return {
    isPending: all.some(({ isPending }) => isPending),
    error: all.find(({ error }) => error)?.error,
    run: (operation: Operation, body: Body) =>
      starts[operation].mutate(
        { body },
        {
          onSuccess: ({ jobId }) => {
            selection.clear();
            void navigate({ to: '/contacts/jobs/$kind/$jobId', params: { kind: 'bulk', jobId } });
          },
        },
      ),
    change: (operation: 'subscribe' | 'unsubscribe', picked: ListedContact[]) => {
      const changed = picked.filter(({ subscribed }) => subscribed !== (operation === 'subscribe'));
      const contactIds = picked.map(({ id }) => id);
      const opposite = starts[operation === 'subscribe' ? 'unsubscribe' : 'subscribe'];
      runAfterWrite(starts[operation].mutateAsync({ body: { contactIds } }), ({ jobId }) => {
        selection.clear();
        const message = `${words.started[operation]}: ${text.contacts.contactsCount(picked.length)}`;
        const undo = async () => {
          await waitForJobEnd(jobId);
          await opposite.mutateAsync({ body: { contactIds: changed.map(({ id }) => id) } });
        };
        if (changed.length === 0) notifySuccess(message);
        else notifyWithUndo(message, undo);
      });
    },
  };
}

/** Adds the selected contacts to a STATIC segment. Offers Undo if none of them was a member before. */
function AddToSegment({ selection: { picked, all, clear } }: { selection: Selection }) {
  const changes = ['listSegments', 'listSegmentContacts', 'listContactSegments'] as const;
  const add = useWrite('addSegmentMembers', { changes });
  const remove = useWrite('removeSegmentMembers', { changes });
  const [opened, setOpened] = useState(false);
  const notAllowed = useMissingPermissionText('segments:edit');
  const segments = useQuery({ ...queryFor('listSegments'), enabled: opened });
  const staticSegments = segments.data?.filter(({ type }) => type === 'STATIC') ?? [];
  const emails = [...picked.values()].map(({ email }) => email);
  const whyNot = all ? words.notForAll : emails.length > SEGMENT_MAX ? words.tooManyForSegment : undefined;
  const addTo = (id: string, name: string) =>
    runAfterWrite(add.mutateAsync({ params: { id }, body: { emails } }), ({ added }) => {
      clear();
      const message = words.added(added, name);
      // The response has only the number of added contacts. If some were members before, an undo would remove them too.
      if (added === emails.length) {
        notifyWithUndo(message, () => remove.mutateAsync({ params: { id }, body: { emails } }));
      } else notifySuccess(message);
    });
  if (notAllowed !== undefined || whyNot !== undefined) {
    return (
      <ActionButton size="compact-sm" variant="default" needs="segments:edit" whyNot={whyNot}>
        {words.toSegment}
      </ActionButton>
    );
  }
  return (
    <Menu opened={opened} onChange={setOpened} shadow="md" withinPortal>
      <Menu.Target>
        <Button size="compact-sm" variant="default">
          {words.toSegment}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {segments.data && staticSegments.length === 0 && <Menu.Label>{words.noSegments}</Menu.Label>}
        {staticSegments.map(({ id, name }) => (
          <Menu.Item key={id} onClick={() => addTo(id, name)} maw={320}>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
