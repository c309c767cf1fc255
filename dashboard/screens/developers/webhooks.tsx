import { Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus, IconWebhook } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { AppLink } from '../../parts/app-link.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { type Column, PendingRows, RowTable } from '../../parts/row-table.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { describeEvents } from './describe-events.ts';
import { DevelopersHead } from './developers-head.tsx';
import { NewWebhook } from './new-webhook.tsx';

type Endpoint = ResponseOf<'listWebhooks'>['data'][number];

const words = text.developers.webhooks;
export const WEBHOOKS_PERMISSION = 'workflows:edit';
const EXAMPLE = { url: 'https://example.com/hooks', events: ['email.*'] };

/** The endpoints to which the project's events are delivered. */
export function Webhooks() {
  const [opened, { open, close }] = useDisclosure();
  const endpoints = useQuery(queryFor('listWebhooks'));
  const button = (
    <ActionButton needs={WEBHOOKS_PERMISSION} leftSection={<IconPlus size={16} />} onClick={open}>
      {words.create}
    </ActionButton>
  );
  return (
    <>
      <DevelopersHead tab="webhooks" actions={button} code={{ method: 'POST', path: '/v1/webhooks', body: EXAMPLE }} />
      <QueryView of={endpoints} pending={<PendingRows columns={COLUMNS} caption={words.caption} count={3} />}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty
              icon={IconWebhook}
              title={words.emptyTitle}
              what={words.emptyHelp}
              curl={{ method: 'POST', path: '/v1/webhooks', body: EXAMPLE }}
            />
          ) : (
            <RowTable rows={data} columns={COLUMNS} rowKey={({ id }) => id} caption={words.caption} />
          )
        }
      </QueryView>
      <NewWebhook opened={opened} onClose={close} />
    </>
  );
}

const COLUMNS: Column<Endpoint>[] = [
  {
    name: words.url,
    cell: ({ id, url, description }) => (
      <>
        <AppLink to={`/developers/webhooks/${id}`} fw={550}>
          {url}
        </AppLink>
        {description && (
          <Text size="sm" c="dimmed" lineClamp={2}>
            {description}
          </Text>
        )}
      </>
    ),
  },
  {
    name: words.events,
    cell: ({ events }) => (
      <Text size="sm" lineClamp={3}>
        {describeEvents(events)}
      </Text>
    ),
    wideOnly: true,
  },
  {
    name: words.status,
    cell: ({ status, failuresInRow, disabledReason }) => (
      <>
        <WordBadge kind="endpoint" value={status} />
        {failuresInRow > 0 && (
          <Text size="xs" c="dimmed">
            {words.failures(failuresInRow, formatCount(failuresInRow))}
          </Text>
        )}
        {disabledReason && (
          <Text size="xs" c="dimmed">
            {words.disabledBecause(disabledReason)}
          </Text>
        )}
      </>
    ),
  },
  { name: text.developers.keys.created, cell: ({ createdAt }) => <Instant at={createdAt} />, wideOnly: true },
];
