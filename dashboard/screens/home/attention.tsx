import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { Breakable } from '../../parts/breakable.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { Failed } from '../../parts/failed.tsx';
import { Instant } from '../../parts/instant.tsx';
import { text } from '../../text/text.ts';
import { Section } from './section.tsx';

type Item = ResponseOf<'listAttention'>['data'][number];

const POLL_MS = 15_000;

export const ATTENTION = { ...queryFor('listAttention'), refetchInterval: POLL_MS };

/** Items that need a user's attention, the most urgent first. Shows nothing without such items; the header says so. */
export function Attention() {
  const { data, error, refetch } = useQuery(ATTENTION);
  if (error && !data) return <Failed error={error} retry={() => void refetch()} />;
  if (!data || data.data.length === 0) return null;
  return (
    <Section title={text.home.attention}>
      <Stack gap="xs">
        {data.data.map((item) => (
          <Needed key={`${item.kind} ${item.id ?? item.name}`} item={item} />
        ))}
      </Stack>
    </Section>
  );
}

function Needed({ item }: { item: Item }) {
  const { kind, name, count, since, detail } = item;
  const place = placeOf(item);
  // The detail of a domain is its status, which the title already says.
  const said = kind === 'domain_broken' ? null : detail;
  return (
    <Alert color={SEVERE.has(kind) ? 'red' : 'orange'} icon={<IconAlertTriangle size={16} stroke={1.75} aria-hidden />}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Text size="sm" lineClamp={3} miw={0}>
          <b>{count > 1 ? `${text.home.kinds[kind]}: ${formatCount(count)}` : text.home.kinds[kind]}</b>{' '}
          {name && <Breakable text={name} />}
          {name && said && ': '}
          {said}{' '}
          <Text span c="dimmed" size="sm">
            {text.home.since} <Instant at={since} />
          </Text>
        </Text>
        {place && (
          <Button
            component={Link}
            to={place}
            size="compact-sm"
            variant="transparent"
            c="inherit"
            // The link is higher than a line of text. With the margin, the row is as high as the text beside the icon.
            my={-5}
            style={{ flex: 'none' }}
          >
            {text.home.look}
          </Button>
        )}
      </Group>
    </Alert>
  );
}

const SEVERE: ReadonlySet<Item['kind']> = new Set([
  'periodic_work_late',
  'project_held',
  'route_paused',
  'domain_broken',
  'executions_failed',
]);

/** Returns the URL of an item's screen. */
function placeOf({ kind, id }: Item): string | null {
  switch (kind) {
    case 'project_held':
      return '/settings/project';
    case 'domain_broken':
      return '/settings/domains';
    case 'campaign_paused':
      return `/campaigns/${id}`;
    case 'executions_failed':
      return `/messages/executions/${id}?status=FAILED`;
    case 'endpoint_disabled':
    case 'endpoint_degraded':
      return `/developers/webhooks/${id}`;
    case 'periodic_work_late':
      return '/operator';
    case 'route_paused':
    case 'outbox_late':
      return null;
  }
}
