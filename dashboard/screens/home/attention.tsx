import { Box, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Breakable } from '../../parts/breakable.tsx';
import { CardSection } from '../../parts/card-section.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { Failed } from '../../parts/failed.tsx';
import { Instant } from '../../parts/instant.tsx';
import { text } from '../../text/text.ts';

type Item = ResponseOf<'listAttention'>['data'][number];

const POLL_MS = 15_000;

export const ATTENTION = { ...queryFor('listAttention'), refetchInterval: POLL_MS };

/** Items that need a user's attention, the most urgent first. Shows nothing without such items; the header says so. */
export function Attention() {
  const { data, error, refetch } = useQuery(ATTENTION);
  if (error && !data) return <Failed error={error} retry={() => void refetch()} />;
  if (!data || data.data.length === 0) return null;
  return (
    <CardSection title={text.home.attention} className="names">
      {data.data.map((item) => (
        <AttentionRow key={`${item.kind} ${item.id ?? item.name}`} item={item} />
      ))}
    </CardSection>
  );
}

function AttentionRow({ item }: { item: Item }) {
  const { kind, name, since } = item;
  const path = getItemPath(item);
  const detail = describeReason(item);
  return (
    <div className="card-row attention">
      <IconAlertTriangle
        size={16}
        stroke={1.75}
        color={`var(--color-${SEVERE.has(kind) ? 'failed' : 'waiting'})`}
        style={{ marginTop: 1 }}
        aria-hidden
      />
      <Box miw={0} flex={1}>
        <Text span inherit fw={500}>
          {describeKind(item)}
        </Text>{' '}
        <Text span inherit c="dimmed">
          {name && <Breakable text={name} />}
          {name && detail && ': '}
          {detail}
        </Text>
      </Box>
      <Text span inherit c="dimmed" className="when">
        <Instant at={since} />
      </Text>
      {path && (
        <AppLink to={path} className="card-link">
          {text.home.look}
        </AppLink>
      )}
    </div>
  );
}

/** Names an item in a few words, with the number of records if there are several. */
function describeKind({ kind, count }: Item): string {
  const written = formatCount(count);
  if (kind === 'executions_failed') return text.home.failedRuns(count, written);
  return count > 1 ? `${text.home.kinds[kind]}: ${written}` : text.home.kinds[kind];
}

const PAUSED: Record<string, string> = text.campaigns.pausedBecause;

/** Returns the reason of an item as a sentence. The API gives a code for campaigns and endpoints. */
function describeReason({ kind, detail }: Item): string | null {
  // The detail of a domain is its status, which the title already says.
  if (detail === null || kind === 'domain_broken') return null;
  if (kind === 'campaign_paused') return PAUSED[detail] ?? detail;
  if (kind === 'endpoint_disabled') return text.developers.webhooks.disabledBecause(detail);
  return detail;
}

const SEVERE: ReadonlySet<Item['kind']> = new Set([
  'periodic_work_late',
  'project_held',
  'route_paused',
  'domain_broken',
  'executions_failed',
]);

/** Returns the path of an item's screen; null if there is no such screen. */
function getItemPath({ kind, id }: Item): string | null {
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
