import { Group, SegmentedControl, Table, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconActivity, IconSearch, IconSend } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { steadyResponseOf } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { AppLink } from '../../parts/app-link.tsx';
import { CountLink } from '../../parts/count-link.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { text } from '../../text/text.ts';
import { DevelopersHead } from './developers-head.tsx';
import { type EventsSearch, SPANS } from './routes.ts';
import { SendEvent } from './send-event.tsx';

type Stats = ResponseOf<'getEventStats'>;

const words = text.developers.events;
const FROM = '/shell/developers/events';
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const EXAMPLE = { email: 'ada@example.com', event: 'signup', data: { plan: 'pro' } };

/** Returns the address of an event's screen. */
export function eventHref(name: string): string {
  return `/developers/events/${encodeURIComponent(name)}`;
}

/** Recorded events in a time span, by name. Span and search are in the address. */
export function Events() {
  const { span = '7' } = useSearch({ from: FROM });
  // Rounded to the minute, so that going back finds the cached response.
  const startDate = useMemo(
    () => new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - Number(span) * DAY_MS).toISOString(),
    [span],
  );
  const stats = useQuery(steadyResponseOf('getEventStats', { query: { startDate } }));
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <DevelopersHead
        tab="events"
        code={{ method: 'POST', path: '/v1/track', body: EXAMPLE }}
        actions={
          <ActionButton needs="events:edit" leftSection={<IconSend size={16} />} onClick={open}>
            {words.send}
          </ActionButton>
        }
      />
      <Filters />
      <QueryView of={stats}>{(rows) => <List rows={rows} />}</QueryView>
      <SendEvent opened={opened} onClose={close} />
    </>
  );
}

function Filters() {
  const { q, span = '7' } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: '/developers/events' });
  const change = (next: EventsSearch) => void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  return (
    <Group mb="md" gap="xs">
      <TextInput
        aria-label={words.search}
        placeholder={words.search}
        leftSection={<IconSearch size={16} />}
        defaultValue={q ?? ''}
        onChange={(event) => change({ q: event.currentTarget.value || undefined } as EventsSearch)}
        flex="1 1 220px"
        maw={420}
      />
      <SegmentedControl
        aria-label={words.span}
        value={span}
        onChange={(next) => change({ span: next as NonNullable<EventsSearch['span']> })}
        data={SPANS.map((value) => ({ value, label: words.spans[value] }))}
      />
    </Group>
  );
}

function List({ rows }: { rows: Stats }) {
  const { q = '' } = useSearch({ from: FROM });
  const shown = rows.filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()));
  if (rows.length === 0) {
    const curl = { method: 'POST' as const, path: '/v1/track', body: EXAMPLE };
    return <Empty icon={IconActivity} title={words.emptyTitle} what={words.emptyWhat} curl={curl} />;
  }
  if (shown.length === 0) return <Text c="dimmed">{words.nothingFound}</Text>;
  return (
    <Table.ScrollContainer minWidth={320} type="native">
      <Table highlightOnHover verticalSpacing="xs" aria-label={words.caption}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.event}</Table.Th>
            <Table.Th ta="right">{words.count}</Table.Th>
            <Table.Th w={130}>{words.last}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map(({ name, count, lastAt }) => (
            <Table.Tr key={name}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <AppLink to={eventHref(name)}>{name}</AppLink>
              </Table.Td>
              <Table.Td ta="right">
                <CountLink n={count} href={eventHref(name)} />
              </Table.Td>
              <Table.Td>
                <Instant at={lastAt} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
