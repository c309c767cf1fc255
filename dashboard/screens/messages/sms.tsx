import { Grid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { EmailStatus } from '../../parts/email-status.tsx';
import { GrayBlock, GrayCard, GrayColumns, GrayTimeline } from '../../parts/gray-parts.tsx';
import { ExactTime } from '../../parts/instant.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { RecordQuery } from '../../parts/record-query.tsx';
import { ReasonText } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import classes from './email.module.css';
import { Fact, Facts } from './facts.tsx';
import { MessageMenu } from './message-menu.tsx';
import { Recipient } from './recipient.tsx';
import { RequestFact } from './request-fact.tsx';
import { Timeline, type TimelineEntry } from './timeline.tsx';

type Sms = ResponseOf<'getSms'>['data'];

const BACK = { to: '/messages/sms', label: text.messages.sms };
const MOVING_MS = 1_000;
const IDLE_MS = 15_000;

/** One SMS: text, result and reason. */
export function SmsPage() {
  const { id } = useParams({ from: '/shell/messages/sms/$id' });
  const sms = useQuery({
    ...queryFor('getSms', { params: { id } }),
    refetchInterval: ({ state }) => (state.data?.data.status === 'PENDING' ? MOVING_MS : IDLE_MS),
  });
  return (
    <RecordQuery of={sms} title={text.messages.sms} back={BACK} buttons={0} pending={<GraySms />}>
      {({ data }) => <SmsDetails sms={data} />}
    </RecordQuery>
  );
}

function GraySms() {
  return (
    <GrayColumns
      aside={
        <>
          <GrayTimeline entries={3} />
          <GrayCard lines={3} />
          <GrayCard lines={2} />
        </>
      }
    >
      <GrayBlock height={104} />
    </GrayColumns>
  );
}

function SmsDetails({ sms }: { sms: Sms }) {
  return (
    <>
      <PageHead
        title={text.messages.smsTitle(sms.to)}
        status={
          <>
            <EmailStatus kind="sms" status={sms.status} reason={sms.reason} />
            <ReasonText value={sms.reason} />
          </>
        }
        subtitle={
          <>
            {text.messages.sentTo} <Recipient to={sms.to} contactId={sms.contactId} /> ·{' '}
            <ExactTime at={sms.createdAt} /> · {text.messages.sources[sms.sourceType]}
          </>
        }
        back={BACK}
        actions={<MessageMenu id={sms.id} path={`/v1/sms/${sms.id}`} />}
      />
      <Grid gutter="lg">
        <Grid.Col span={{ base: 12, md: 7.5 }}>
          <SentText sms={sms} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4.5 }}>
          <Stack gap="lg">
            <SmsTimeline sms={sms} />
            <Facts title={text.messages.details}>
              <Fact name={text.messages.from}>{sms.from}</Fact>
              {sms.workflowExecutionId && sms.workflowId && (
                <Fact name={text.messages.source}>
                  {text.messages.sources[sms.sourceType]}{' '}
                  <AppLink to={`/messages/executions/${sms.workflowId}/${sms.workflowExecutionId}`}>
                    {text.messages.execution}
                  </AppLink>
                </Fact>
              )}
              <RequestFact of={sms.id} />
            </Facts>
            <Facts title={text.messages.provider}>
              <Text size="sm">{sms.error ?? (sms.sentAt ? text.messages.took : text.messages.noResponse)}</Text>
              {sms.messageId && <Fact name={text.messages.messageId}>{sms.messageId}</Fact>}
            </Facts>
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}

/** Shows the text as a phone does. Below it, the number of parts, each of which the provider charges. */
function SentText({ sms: { body, encoding, segments } }: { sms: Sms }) {
  const characters = [...body].length;
  return (
    <Stack gap="xs" py="md" className={classes.desk}>
      <div className={classes.bubble}>{body}</div>
      <Text size="xs" c="dimmed">
        {text.messages.smsSize({ characters, formatted: formatCount(characters), encoding, parts: segments })}
      </Text>
    </Stack>
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
