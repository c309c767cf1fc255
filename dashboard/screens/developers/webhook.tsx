import { Alert, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { RecordQuery } from '../../parts/record-query.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { Deliveries, GrayDeliveries } from './deliveries.tsx';
import { describeEvents } from './describe-events.ts';
import { WebhookActions } from './webhook-actions.tsx';

const words = text.developers.webhooks;
const BACK = { to: '/developers/webhooks', label: text.developers.tabs.webhooks };
const POLL_MS = 5_000;

/** Says why an endpoint gets no deliveries, or how many of the last ones failed. */
function describeFailures({ disabledReason, failuresInRow }: ResponseOf<'getWebhook'>): string {
  if (disabledReason === null) return words.failing(formatCount(failuresInRow));
  return words.disabledBecause(disabledReason);
}

/** Says in one line whether the service or a user disabled the endpoint, or that its deliveries fail. */
function Problem({ endpoint }: { endpoint: ResponseOf<'getWebhook'> }) {
  const { status, disabledReason } = endpoint;
  const isByUser = disabledReason === 'manual';
  return (
    <Alert color={isByUser ? 'gray' : status === 'DISABLED' ? 'red' : 'yellow'} mb="md">
      <Text span inherit fw={600}>
        {describeFailures(endpoint)}
      </Text>{' '}
      {status === 'DISABLED' ? !isByUser && words.disabledNext : words.failingNext}
    </Alert>
  );
}

/** One endpoint and its deliveries. */
export function Webhook() {
  const { endpointId } = useParams({ from: '/shell/developers/webhooks/$endpointId' });
  const endpoint = useQuery({
    ...queryFor('getWebhook', { params: { id: endpointId } }),
    refetchInterval: POLL_MS,
  });
  return (
    <RecordQuery
      of={endpoint}
      title={text.developers.tabs.webhooks}
      back={BACK}
      buttons={1}
      pending={<GrayDeliveries />}
    >
      {(loaded) => (
        <>
          <PageHead
            title={loaded.url}
            back={BACK}
            status={<WordBadge kind="endpoint" value={loaded.status} />}
            subtitle={
              <Text size="sm" inherit lineClamp={3}>
                {loaded.description && `${loaded.description} · `}
                {describeEvents(loaded.events, words.eventList)}
              </Text>
            }
            actions={<WebhookActions endpoint={loaded} />}
          />
          {loaded.status !== 'ACTIVE' && <Problem endpoint={loaded} />}
          <Deliveries endpointId={loaded.id} />
        </>
      )}
    </RecordQuery>
  );
}
