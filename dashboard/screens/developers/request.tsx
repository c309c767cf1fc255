import { Box, Code, Group, List, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { AsCode } from '../../parts/as-code.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { EmailStatus } from '../../parts/email-status.tsx';
import { ExactTime } from '../../parts/instant.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { GrayLine, GrayLines, Repeat } from '../../parts/pending-lines.tsx';
import { RecordQuery } from '../../parts/record-query.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { getEventPath } from './events.tsx';
import { getCallerName, StatusBadge, useApiKeys } from './requests.tsx';

type Detail = ResponseOf<'getRequest'>;

const words = text.developers.requests;
const BACK = { to: '/developers/requests', label: text.developers.tabs.requests };
const FACT_COLUMNS = { base: 1, xs: 2, sm: 3 };
/** The number of facts about a request that succeeded. */
const FACTS = 5;
/** The interval of refreshes, because an execution's emails appear shortly after the event that started it. */
const POLL_MS = 2_000;

/** One request and its results. */
export function RequestScreen() {
  const { requestId } = useParams({ from: '/shell/developers/requests/$requestId' });
  const request = useQuery({ ...queryFor('getRequest', { params: { requestId } }), refetchInterval: POLL_MS });
  return (
    <RecordQuery of={request} title={text.developers.tabs.requests} back={BACK} lines={0} pending={<GrayRequest />}>
      {(loaded) => (
        <>
          <PageHead
            title={`${loaded.method} ${loaded.route}`}
            back={BACK}
            actions={<AsCode method="GET" path={`/v1/requests/${encodeURIComponent(requestId)}`} />}
          />
          <Facts request={loaded} />
          <Title order={2} size="h4" mt="xl" mb="sm">
            {words.createdRecords}
          </Title>
          <CreatedRecords records={loaded.made} />
        </>
      )}
    </RecordQuery>
  );
}

function GrayRequest() {
  return (
    <>
      <Paper withBorder p="md" mb="xl">
        <SimpleGrid cols={FACT_COLUMNS}>
          <Repeat count={FACTS}>
            <Box display="grid">
              <GrayLine width="30%" />
              <GrayLine width="50%" height={20} />
            </Box>
          </Repeat>
        </SimpleGrid>
      </Paper>
      <GrayLines count={3} />
    </>
  );
}

function Facts({ request }: { request: Detail }) {
  const keys = useApiKeys();
  const { status, ms, requestId, errorCode, createdAt } = request;
  return (
    <Paper withBorder p="md">
      <SimpleGrid cols={FACT_COLUMNS} component="dl" m={0}>
        <Fact name={words.status}>
          <StatusBadge status={status} />
        </Fact>
        <Fact name={words.duration}>{words.milliseconds(ms)}</Fact>
        <Fact name={text.developers.when}>
          <ExactTime at={createdAt} />
        </Fact>
        <Fact name={words.by}>{getCallerName(request, keys)}</Fact>
        <Fact name={words.id}>
          <Group gap={4} wrap="nowrap">
            <Code style={{ overflowWrap: 'anywhere' }}>{requestId}</Code>
            <CopyButton value={requestId} />
          </Group>
        </Fact>
        {errorCode && <Fact name={words.error}>{errorCode}</Fact>}
      </SimpleGrid>
    </Paper>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text component="dt" size="sm" c="dimmed">
        {name}
      </Text>
      <Text component="dd" m={0} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </div>
  );
}

function CreatedRecords({ records: { contacts, events, executions, emails, sms } }: { records: Detail['made'] }) {
  if (contacts.length + events.length + executions.length + emails.length + sms.length === 0)
    return <Text c="dimmed">{words.createdNothing}</Text>;
  return (
    <Stack>
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
    </Stack>
  );
}

function RecordGroup({ title, items }: { title: string; items: [id: string, item: ReactNode][] }) {
  if (items.length === 0) return null;
  return (
    <div>
      <Title order={3} size="h6" mb={4}>
        {title} ({items.length})
      </Title>
      <List style={{ overflowWrap: 'anywhere' }}>
        {items.map(([id, item]) => (
          <List.Item key={id}>{item}</List.Item>
        ))}
      </List>
    </div>
  );
}
