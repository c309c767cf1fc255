import { Code, Grid, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Curl } from '../../parts/curl.tsx';
import { Instant } from '../../parts/instant.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { Fact, Facts } from './facts.tsx';
import { RequestFact } from './request-fact.tsx';
import { Timeline, type TimelineEntry } from './timeline.tsx';

type Sms = ResponseOf<'getSms'>['data'];

const MOVING_MS = 1_000;
const IDLE_MS = 15_000;

/** One SMS: text, result and reason. */
export function SmsPage() {
  const { id } = useParams({ from: '/shell/messages/sms/$id' });
  const sms = useQuery({
    ...queryFor('getSms', { params: { id } }),
    refetchInterval: ({ state }) => (state.data?.data.status === 'PENDING' ? MOVING_MS : IDLE_MS),
  });
  return <QueryView of={sms}>{({ data }) => <Shown sms={data} />}</QueryView>;
}

function Shown({ sms }: { sms: Sms }) {
  return (
    <>
      <PageHead
        title={text.messages.smsTitle(sms.to)}
        subtitle={
          <Group gap="xs">
            <WordBadge kind="sms" value={sms.status} />
            <WordBadge kind="reason" value={sms.reason} />
            <Instant at={sms.createdAt} />
          </Group>
        }
        back={{ to: '/messages/sms', label: text.messages.sms }}
      />
      <Grid gutter="lg">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {sms.body}
          </Code>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack gap="lg">
            <SmsTimeline sms={sms} />
            <Facts title={text.messages.details}>
              <Fact name={text.messages.from}>{sms.from}</Fact>
              <Fact name={text.messages.segments}>{sms.segments}</Fact>
              {sms.contactId && (
                <Fact name={text.messages.contact}>
                  <AppLink to={`/contacts/${sms.contactId}`}>{sms.to}</AppLink>
                </Fact>
              )}
            </Facts>
            <Facts title={text.messages.cause}>
              <Fact name={text.messages.source}>
                {text.messages.sources[sms.sourceType]}
                {sms.workflowExecutionId && sms.workflowId && (
                  <>
                    {', '}
                    <AppLink to={`/messages/executions/${sms.workflowId}/${sms.workflowExecutionId}`}>
                      {text.messages.execution}
                    </AppLink>
                  </>
                )}
              </Fact>
              <RequestFact of={sms.id} />
            </Facts>
            <Facts title={text.messages.provider}>
              <Text size="sm">{sms.error ?? (sms.sentAt ? text.messages.took : text.messages.noResponse)}</Text>
              {sms.messageId && <Fact name={text.messages.messageId}>{sms.messageId}</Fact>}
            </Facts>
            <Curl method="GET" path={`/v1/sms/${sms.id}`} />
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}

function SmsTimeline({ sms }: { sms: Sms }) {
  const entries = (['createdAt', 'sentAt', 'deliveredAt'] as const).flatMap((instant): TimelineEntry[] => {
    const at = sms[instant];
    const tone = instant === 'deliveredAt' ? 'done' : undefined;
    return at === null ? [] : [{ name: text.messages.instants[instant], at, tone }];
  });
  return <Timeline entries={entries} />;
}
