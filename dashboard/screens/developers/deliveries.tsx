import { Anchor, Box, Code, Drawer, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type ItemOf, infiniteQueryFor, useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { notifySuccess, runAfterWrite } from '../../parts/notifications.tsx';
import { GrayLine } from '../../parts/pending-lines.tsx';
import { type Column, GrayRows } from '../../parts/row-table.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { getLabel } from '../../text/words.ts';
import { DELIVERY_STATUSES, type DeliveriesSearch } from './routes.ts';

type Delivery = ItemOf<'listWebhookDeliveries'>;

const words = text.developers.deliveries;
const FROM = '/shell/developers/webhooks/$endpointId';
const POLL_MS = 5_000;

/** Deliveries to an endpoint and its responses. The status filter and the open delivery are in the URL. */
export function Deliveries({ endpointId }: { endpointId: string }) {
  const { status, delivery } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: '/developers/webhooks/$endpointId' });
  const pages = useInfiniteQuery({
    ...infiniteQueryFor('listWebhookDeliveries', { params: { id: endpointId }, query: status ? { status } : {} }),
    refetchInterval: POLL_MS,
  });
  const change = (next: Partial<DeliveriesSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const rows = pages.data?.pages.flatMap(({ data }) => data) ?? [];
  const openDelivery = rows.find(({ id }) => id === delivery);
  const show = (id: string | undefined) => change({ delivery: id });
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          {words.heading}
        </Title>
        <SegmentedControl
          size="xs"
          aria-label={words.filter}
          value={status ?? ''}
          onChange={(next) => change({ status: DELIVERY_STATUSES.find((name) => name === next) })}
          data={[
            { value: '', label: words.all },
            ...DELIVERY_STATUSES.map((value) => ({ value, label: getLabel('delivery', value) })),
          ]}
        />
      </Group>
      <CursorTable
        pages={pages}
        columns={createColumns(show)}
        rowKey={({ id }) => id}
        caption={words.caption}
        empty={status ? <Text c="dimmed">{words.nothingFound}</Text> : <NoDeliveries />}
      />
      <Drawer
        opened={openDelivery !== undefined}
        onClose={() => show(undefined)}
        position="right"
        size="lg"
        title={words.details}
        closeButtonProps={{ 'aria-label': text.app.close }}
      >
        {openDelivery && <Details endpointId={endpointId} delivery={openDelivery} />}
      </Drawer>
    </>
  );
}

/** The placeholder of the deliveries. */
export function GrayDeliveries() {
  return (
    <>
      <Box display="grid" mih={30} mb="sm">
        <GrayLine width={90} height={20} />
      </Box>
      <GrayRows columns={createColumns(() => {})} caption={words.caption} />
    </>
  );
}

function NoDeliveries() {
  const body = { name: 'signup', data: { plan: 'pro' } };
  return (
    <Empty title={words.emptyTitle} what={words.emptyHelp} curl={{ method: 'POST', path: '/v1/events/track', body }} />
  );
}

function createColumns(show: (id: string) => void): Column<Delivery>[] {
  return [
    {
      name: words.event,
      cell: ({ id, event }) => (
        <Anchor
          component="button"
          type="button"
          ta="left"
          display="block"
          onClick={() => show(id)}
          aria-label={words.open(event)}
        >
          <Text size="sm" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
            {event}
          </Text>
        </Anchor>
      ),
    },
    { name: words.status, cell: ({ status }) => <WordBadge kind="delivery" value={status} />, width: 130 },
    {
      name: words.response,
      cell: ({ responseStatus, error }) => (
        <Text size="sm" lineClamp={2}>
          {error ?? responseStatus ?? words.noResponse}
        </Text>
      ),
      wideOnly: true,
    },
    {
      name: words.latency,
      cell: ({ latencyMs }) => (latencyMs === null ? text.developers.none : words.milliseconds(latencyMs)),
      align: 'right',
      width: 90,
      wideOnly: true,
    },
    { name: words.attempts, cell: ({ attempts }) => attempts, align: 'right', width: 70, wideOnly: true },
    { name: text.developers.when, cell: ({ createdAt }) => <Instant at={createdAt} />, width: 120 },
  ];
}

function Details({ endpointId, delivery }: { endpointId: string; delivery: Delivery }) {
  const { id, event, status, responseStatus, responseBody, error } = delivery;
  const { latencyMs, attempts, nextAttemptAt, payload, createdAt } = delivery;
  const { projectId } = useSession();
  const body = { id, type: event, timestamp: createdAt, projectId, data: payload };
  const replay = useWrite('replayWebhookDelivery', { changes: ['listWebhookDeliveries'] });
  const facts: [string, ReactNode][] = [
    [words.status, <WordBadge key="status" kind="delivery" value={status} />],
    [words.response, error ?? responseStatus ?? words.noResponse],
    [words.latency, latencyMs === null ? text.developers.none : words.milliseconds(latencyMs)],
    [words.attempts, attempts],
    ...(nextAttemptAt ? [[words.next, <Instant key="next" at={nextAttemptAt} />] as [string, ReactNode]] : []),
  ];
  return (
    <Stack>
      <Text fw={600} style={{ overflowWrap: 'anywhere' }} lineClamp={4}>
        {event}
      </Text>
      <Stack gap={4} component="dl" m={0}>
        {facts.map(([name, value]) => (
          <Group key={name} gap="xs" align="flex-start" wrap="nowrap">
            <Text component="dt" size="sm" c="dimmed" w={90} style={{ flex: 'none' }}>
              {name}
            </Text>
            <Text component="dd" size="sm" m={0} style={{ overflowWrap: 'anywhere' }}>
              {value}
            </Text>
          </Group>
        ))}
      </Stack>
      <Group gap="xs" wrap="nowrap">
        <Text size="sm" c="dimmed">
          {words.id}
        </Text>
        <Code style={{ overflowWrap: 'anywhere' }}>{id}</Code>
        <CopyButton value={id} />
      </Group>
      <div>
        <Text size="sm" fw={500} mb={4}>
          {words.body}
        </Text>
        <JsonView value={body} maxHeight={420} />
      </div>
      {responseBody !== null && <ResponseBody body={responseBody} />}
      <Group>
        <ActionButton
          needs="workflows:edit"
          loading={replay.isPending}
          onClick={() =>
            runAfterWrite(replay.mutateAsync({ params: { id: endpointId, deliveryId: id } }), () =>
              notifySuccess(words.replayed),
            )
          }
        >
          {words.replay}
        </ActionButton>
      </Group>
    </Stack>
  );
}

/** The endpoint's response as plain text. */
function ResponseBody({ body }: { body: string }) {
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        {words.responseBody}
      </Text>
      {body === '' ? (
        <Text size="sm" c="dimmed">
          {words.emptyResponse}
        </Text>
      ) : (
        <Code
          block
          tabIndex={0}
          mah={280}
          style={{ overflow: 'auto', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
        >
          {body}
        </Code>
      )}
    </div>
  );
}
