import { Alert, Grid, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { AsCode } from '../../parts/as-code.tsx';
import { EmailStatus } from '../../parts/email-status.tsx';
import { CopyableId, Fact, Facts } from '../../parts/facts.tsx';
import { GrayCard, GrayColumns } from '../../parts/gray-parts.tsx';
import { ExactTime } from '../../parts/instant.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { RecordQuery } from '../../parts/record-query.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { getEventPath } from './events.tsx';
import { getCallerName, StatusBadge, useApiKeys } from './requests.tsx';

type Detail = ResponseOf<'getRequest'>;

const words = text.developers.requests;
const BACK = { to: '/developers/requests', label: text.developers.tabs.requests };
/** The interval of refreshes, because an execution's emails appear shortly after the event that started it. */
const POLL_MS = 2_000;

/** One request and its results. */
export function RequestScreen() {
  const { requestId } = useParams({ from: '/shell/developers/requests/$requestId' });
  const request = useQuery({ ...queryFor('getRequest', { params: { requestId } }), refetchInterval: POLL_MS });
  return (
    <RecordQuery of={request} title={text.developers.tabs.requests} back={BACK} pending={<GrayRequest />}>
      {(loaded) => <RequestDetails request={loaded} />}
    </RecordQuery>
  );
}

function GrayRequest() {
  return (
    <GrayColumns aside={<GrayCard lines={3} />}>
      <GrayCard lines={3} />
    </GrayColumns>
  );
}

function RequestDetails({ request }: { request: Detail }) {
  const caller = getCallerName(request, useApiKeys());
  const { method, route, status, ms, requestId, errorCode, createdAt } = request;
  return (
    <>
      <PageHead
        title={`${method} ${route}`}
        status={<StatusBadge status={status} />}
        subtitle={<ExactTime at={createdAt} />}
        back={BACK}
        actions={<AsCode method="GET" path={`/v1/requests/${encodeURIComponent(requestId)}`} />}
      />
      {errorCode && (
        <Alert color="red" mb="md">
          <Text span inherit fw={600}>
            {words.failedWith(errorCode)}
          </Text>{' '}
          {words.failedNext}
        </Alert>
      )}
      <Grid gutter="lg">
        <Grid.Col span={{ base: 12, md: 7.5 }}>
          <CreatedRecords records={request.made} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4.5 }}>
          <Facts title={words.details}>
            <Fact name={words.by}>{caller}</Fact>
            <Fact name={words.duration}>{words.milliseconds(ms)}</Fact>
            <CopyableId name={words.id} value={requestId} />
          </Facts>
        </Grid.Col>
      </Grid>
    </>
  );
}

function CreatedRecords({ records: { contacts, events, executions, emails, sms } }: { records: Detail['made'] }) {
  const isEmpty = contacts.length + events.length + executions.length + emails.length + sms.length === 0;
  return (
    <Facts title={words.createdRecords}>
      {isEmpty && <Text c="dimmed">{words.createdNothing}</Text>}
      <RecordGroup
        title={words.contacts}
        items={contacts.map(({ id, email }) => [
          id,
          <AppLink key={id} to={`/contacts/${id}`}>
            {email}
          </AppLink>,
        ])}
      />
      <RecordGroup
        title={words.events}
        items={events.map(({ id, name }) => [
          id,
          <AppLink key={id} to={getEventPath(name)}>
            {name}
          </AppLink>,
        ])}
      />
      <RecordGroup
        title={words.executions}
        items={executions.map(({ id, workflowId, workflowName, status }) => [
          id,
          <Group key={id} gap="xs">
            <AppLink to={`/messages/executions/${workflowId}/${id}`}>{workflowName}</AppLink>
            <WordBadge kind="execution" value={status} />
          </Group>,
        ])}
      />
      <RecordGroup
        title={words.emails}
        items={emails.map(({ id, to, status, reason }) => [
          id,
          <Group key={id} gap="xs">
            <AppLink to={`/messages/${id}`}>{to ?? id}</AppLink>
            <EmailStatus status={status} reason={reason} />
          </Group>,
        ])}
      />
      <RecordGroup
        title={words.sms}
        items={sms.map(({ id, to, status, reason }) => [
          id,
          <Group key={id} gap="xs">
            <AppLink to={`/messages/sms/${id}`}>{to}</AppLink>
            <WordBadge kind="sms" value={status} />
            <WordBadge kind="reason" value={reason} />
          </Group>,
        ])}
      />
    </Facts>
  );
}

function RecordGroup({ title, items }: { title: string; items: [id: string, item: ReactNode][] }) {
  if (items.length === 0) return null;
  return (
    <Fact name={title}>
      <Stack gap={4}>
        {items.map(([id, item]) => (
          <Fragment key={id}>{item}</Fragment>
        ))}
      </Stack>
    </Fact>
  );
}
