import { Group, SegmentedControl, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconActivity, IconSend } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { listQueryFor } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { AppLink } from '../../parts/app-link.tsx';
import { CountLink } from '../../parts/count-link.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { type Column, PendingRows, RowTable } from '../../parts/row-table.tsx';
import { SearchField } from '../../parts/search-field.tsx';
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

/** Returns the path of an event's screen. */
export function getEventPath(name: string): string {
  return `/developers/events/${encodeURIComponent(name)}`;
}

/** Recorded events in a time span, by name. Span and search are in the URL. */
export function Events() {
  const { span = '7' } = useSearch({ from: FROM });
  // Rounded to the minute, so that going back finds the cached response.
  const startDate = useMemo(
    () => new Date(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - Number(span) * DAY_MS).toISOString(),
    [span],
  );
  const stats = useQuery(listQueryFor('getEventStats', { query: { startDate } }));
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
      <QueryView of={stats} pending={<PendingRows columns={COLUMNS} caption={words.caption} />}>
        {(rows) => <List rows={rows} />}
      </QueryView>
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
      <SearchField
        label={words.search}
        placeholder={words.search}
        value={q}
        onChange={(next) => change({ q: next } as EventsSearch)}
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
  const matches = rows.filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()));
  if (rows.length === 0) {
    const curl = { method: 'POST' as const, path: '/v1/track' as const, body: EXAMPLE };
    return <Empty icon={IconActivity} title={words.emptyTitle} what={words.emptyHelp} curl={curl} />;
  }
  if (matches.length === 0) return <Text c="dimmed">{words.nothingFound}</Text>;
  return <RowTable rows={matches} columns={COLUMNS} rowKey={({ name }) => name} caption={words.caption} />;
}

const COLUMNS: Column<Stats[number]>[] = [
  { name: words.event, cell: ({ name }) => <AppLink to={getEventPath(name)}>{name}</AppLink> },
  { name: words.count, align: 'right', cell: ({ name, count }) => <CountLink n={count} href={getEventPath(name)} /> },
  { name: words.last, width: 130, cell: ({ lastAt }) => <Instant at={lastAt} /> },
];
