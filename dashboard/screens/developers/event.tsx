import { Code, Paper, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconTrash } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { type ItemOf, infiniteQueryFor, queryFor, useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { AppLink } from '../../parts/app-link.tsx';
import { AsCode } from '../../parts/as-code.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { GrayStats } from '../../parts/gray-parts.tsx';
import { Instant } from '../../parts/instant.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Placeholder } from '../../parts/loading.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { useIsPhone } from '../../parts/use-is-phone.ts';
import { text } from '../../text/text.ts';
import { SendEvent } from './send-event.tsx';

type Event = ItemOf<'listEvents'>;
type Usage = ResponseOf<'getEventUsage'>;

const words = text.developers.events;
const PAYLOADS = 20;
/** Contacts rarely change their address. */
const CONTACT_FRESH_MS = 60_000;

/** One event name: the automations and segments that use it, and its latest payloads. */
export function EventScreen() {
  const { eventName } = useParams({ from: '/shell/developers/events/$eventName' });
  const usage = useQuery(queryFor('getEventUsage', { params: { eventName } }));
  const pages = useInfiniteQuery(infiniteQueryFor('listEvents', { query: { eventName, limit: PAYLOADS } }));
  const [opened, { open, close }] = useDisclosure();
  const isPhone = useIsPhone();
  return (
    <>
      <PageHead
        title={eventName}
        back={{ to: '/developers/events', label: text.developers.tabs.events }}
        actions={
          <>
            <AsCode method="GET" path={`/v1/events?eventName=${encodeURIComponent(eventName)}`} />
            <ActionButton needs="events:edit" variant="default" onClick={open}>
              {words.send}
            </ActionButton>
            {usage.data && <Purge name={eventName} usage={usage.data} />}
          </>
        }
      />
      <QueryView of={usage} pending={<PendingUsage />}>
        {(loaded) => <UsageView usage={loaded} />}
      </QueryView>
      <Title order={2} size="h4" mt="xl" mb="sm">
        {words.payloads}
      </Title>
      <CursorTable
        pages={pages}
        columns={isPhone ? PHONE_COLUMNS : COLUMNS}
        rowKey={({ id }) => id}
        caption={words.payloadsCaption}
        empty={<Text c="dimmed">{words.emptyTitle}</Text>}
      />
      <SendEvent opened={opened} onClose={close} eventName={eventName} />
    </>
  );
}

const COLUMNS: Column<Event>[] = [
  {
    name: text.developers.when,
    cell: ({ createdAt }) => <Instant at={createdAt} />,
    width: 120,
  },
  {
    name: words.contact,
    cell: ({ contactId }) => <ContactLink contactId={contactId} />,
    width: 250,
  },
  {
    name: words.startedColumn,
    cell: (event) => <StartedRuns event={event} />,
    width: 180,
  },
  {
    name: words.data,
    cell: ({ data }) => <Payload data={data} />,
  },
];

/** On a phone, the contact, the started runs and the data are below each other. */
const PHONE_COLUMNS: Column<Event>[] = [
  {
    name: words.contact,
    isMain: true,
    cell: (event) => (
      <>
        <ContactLink contactId={event.contactId} />
        {event.executions.length + event.notStarted.length > 0 && <StartedRuns event={event} />}
        <Payload data={event.data} />
      </>
    ),
  },
  { name: text.developers.when, cell: ({ createdAt }) => <Instant at={createdAt} /> },
];

/** Shows the data on one line. A click shows all of the data. */
function Payload({ data }: { data: Record<string, unknown> }) {
  if (Object.keys(data).length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {words.noData}
      </Text>
    );
  }
  return (
    <details className="payload">
      <summary>
        <Code>{formatOnOneLine(data)}</Code>
      </summary>
      <JsonView value={data} maxHeight={320} />
    </details>
  );
}

/** Formats data as JSON in one line, with spaces so that it can wrap and be read. */
function formatOnOneLine(data: Record<string, unknown>): string {
  return JSON.stringify(data, null, 1).replaceAll(/\n\s*/g, ' ');
}

/** Links to a contact by its address. Until the contact is loaded, the link shows the end of the contact's id. */
function ContactLink({ contactId }: { contactId: string | null }) {
  const { can } = useSession();
  const { data } = useQuery({
    ...queryFor('getContact', { params: { id: contactId ?? '' } }),
    enabled: contactId !== null && can('contacts:view'),
    staleTime: CONTACT_FRESH_MS,
  });
  if (contactId === null) return <>{words.ofNobody}</>;
  return <AppLink to={`/contacts/${contactId}`}>{data?.email ?? `…${contactId.slice(-6)}`}</AppLink>;
}

/** The executions that the event started, and the reasons why automations did not start. */
function StartedRuns({ event: { executions, notStarted } }: { event: Event }) {
  if (executions.length + notStarted.length === 0) {
    return (
      <Text span inherit c="dimmed" title={words.startsNothing}>
        {words.startedNone}
      </Text>
    );
  }
  return (
    <>
      {executions.map(({ id, workflowId }) => (
        <Text size="sm" key={id}>
          <AppLink to={`/messages/executions/${workflowId}/${id}`}>{words.started}</AppLink>
        </Text>
      ))}
      {notStarted.map(({ workflowId, reason }) => (
        <Text size="sm" key={workflowId}>
          <AppLink to={`/automations/${workflowId}`}>{words.notStarted}</AppLink>
          {` ${words.notStartedReasons[reason]}`}
        </Text>
      ))}
    </>
  );
}

function PendingUsage() {
  return (
    <Placeholder>
      <Paper withBorder>
        <GrayStats count={4} />
      </Paper>
    </Placeholder>
  );
}

function UsageView({ usage }: { usage: Usage }) {
  const { usedInSegments, usedInWorkflows, totalCount, uniqueContacts } = usage;
  const isUsed = usedInSegments.length + usedInWorkflows.length > 0;
  return (
    <Paper withBorder className="stats">
      <Figure label={words.total} n={totalCount} />
      <Figure label={words.contacts} n={uniqueContacts} />
      <div className="stats-wide">
        <Text size="xs" fw={500} c="dimmed" mb={6}>
          {words.usedIn}
        </Text>
        {!isUsed && (
          <Text size="sm" c="dimmed">
            {words.nowhere}
          </Text>
        )}
        <UsedIn title={words.automations} path="automations" list={usedInWorkflows} />
        <UsedIn title={words.segments} path="segments" list={usedInSegments} />
      </div>
    </Paper>
  );
}

function Figure({ label, n }: { label: string; n: number }) {
  return (
    <div>
      <Text size="xs" fw={500} c="dimmed">
        {label}
      </Text>
      <div className="stats-figure">{formatCount(n)}</div>
    </div>
  );
}

function UsedIn({ title, path, list }: { title: string; path: string; list: { id: string; name: string }[] }) {
  if (list.length === 0) return null;
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {title}:{' '}
      {list.map(({ id, name }, n) => (
        <span key={id}>
          {n > 0 && ', '}
          <AppLink to={`/${path}/${id}`}>{name}</AppLink>
        </span>
      ))}
    </Text>
  );
}

function Purge({ name, usage }: { name: string; usage: Usage }) {
  const [opened, { open, close }] = useDisclosure();
  const navigate = useNavigate();
  const purge = useWrite('deleteEvents', { changes: 'all' });
  return (
    <>
      <MoreMenu>
        <MoreItem
          icon={IconTrash}
          needs="events:edit"
          whyNot={usage.canDelete ? undefined : words.inUse}
          isDestructive
          onClick={open}
        >
          {words.purge}
        </MoreItem>
      </MoreMenu>
      <ConfirmTyped
        opened={opened}
        onClose={close}
        title={words.purgeTitle}
        what={words.purgeHelp(usage.totalCount)}
        word={words.purgeWord}
        action={words.purge}
        write={purge}
        onConfirm={() =>
          purge.mutate(
            { params: { eventName: name } },
            {
              onSuccess: ({ deletedCount }) => {
                notifySuccess(words.purged(deletedCount));
                void navigate({ to: '/developers/events' });
              },
            },
          )
        }
      />
    </>
  );
}
