import { Grid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { EmailStatus } from '../../parts/email-status.tsx';
import { describeDuration } from '../../parts/format-duration.ts';
import { GrayCard, GrayColumns, GrayStats, GrayTimeline } from '../../parts/gray-parts.tsx';
import { ExactTime } from '../../parts/instant.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { GrayLine } from '../../parts/pending-lines.tsx';
import { RecordQuery } from '../../parts/record-query.tsx';
import { text } from '../../text/text.ts';
import { findWord } from '../../text/words.ts';
import { MessageMenu } from './message-menu.tsx';
import { NotSent } from './not-sent.tsx';
import { SmsFacts } from './sms-facts.tsx';
import { SmsPhone } from './sms-phone.tsx';
import { getSecondsToDelivery, SmsTimeline } from './sms-timeline.tsx';
import type { SmsResponse } from './sms-type.ts';

const BACK = { to: '/messages/sms', label: text.messages.sms };
const MOVING_MS = 1_000;
const IDLE_MS = 15_000;

/** One SMS: result, text, size, timeline and facts. */
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

/** The height in pixels of a phone with a short text. */
const PHONE_HEIGHT = 250;

function GraySms() {
  return (
    <GrayColumns
      aside={
        <>
          <GrayTimeline entries={3} hasDetails />
          <GrayCard lines={6} />
        </>
      }
    >
      <div>
        <GrayLine width="min(260px, 70%)" height={24} />
        <GrayCard area={PHONE_HEIGHT}>
          <GrayStats count={3} hasDetail />
        </GrayCard>
      </div>
    </GrayColumns>
  );
}

function SmsDetails({ sms }: { sms: SmsResponse }) {
  return (
    <>
      <PageHead
        title={text.messages.smsTitle(sms.to)}
        status={<EmailStatus kind="sms" status={sms.status} reason={sms.reason} />}
        subtitle={
          <>
            <ExactTime at={sms.createdAt} /> · {text.messages.sources[sms.sourceType]}
            {sms.contactId && (
              <>
                {' · '}
                <AppLink to={`/contacts/${sms.contactId}`}>{text.messages.viewContact}</AppLink>
              </>
            )}
          </>
        }
        back={BACK}
        actions={<MessageMenu id={sms.id} path={`/v1/sms/${sms.id}`} />}
      />
      <Grid gutter="lg">
        <Grid.Col span={{ base: 12, md: 7.5 }}>
          <Outcome sms={sms} />
          <SmsPhone sms={sms} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4.5 }}>
          <Stack gap="lg">
            <SmsTimeline sms={sms} />
            <SmsFacts sms={sms} />
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}

/** Shows the result of the SMS in one sentence. */
function Outcome({ sms }: { sms: SmsResponse }) {
  if (sms.reason) return <NotSent reason={sms.reason} />;
  const seconds = getSecondsToDelivery(sms);
  return (
    <Text size="lg" mb="md">
      {seconds === undefined
        ? findWord('sms', sms.status)?.means
        : text.messages.smsDelivered(describeDuration(seconds))}
    </Text>
  );
}
