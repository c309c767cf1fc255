import { Button, Grid, Group, Stack, Text, Title } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { GrayCard, GrayColumns, GrayTimeline } from '../../parts/gray-parts.tsx';
import { ExactTime } from '../../parts/instant.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { RecordQuery } from '../../parts/record-query.tsx';
import { Tag } from '../../parts/status.tsx';
import { ReasonText, WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { findWord } from '../../text/words.ts';
import { RequestFact } from '../messages/request-fact.tsx';
import type { Execution, Workflow } from './execution-type.ts';
import { ExecutionActions } from './moves.tsx';
import { StepLine } from './step-line.tsx';

/** Intervals of refreshes while a step runs, and while the execution waits. An ended execution is not refreshed. */
const RUNNING_POLL_MS = 1_000;
const WAITING_POLL_MS = 5_000;

/** One contact's run of an automation: its steps as a timeline, and actions. */
export function ExecutionPage() {
  const { workflowId, executionId } = useParams({ from: '/shell/messages/executions/$workflowId/$executionId' });
  const execution = useQuery({
    ...queryFor('getExecution', { params: { id: workflowId, executionId } }),
    refetchInterval: ({ state }) => {
      const status = state.data?.status;
      if (status === 'RUNNING') return RUNNING_POLL_MS;
      return status === 'WAITING' ? WAITING_POLL_MS : false;
    },
  });
  // The names of the steps come from the current automation, which may have been deleted.
  const { data: workflow } = useQuery(queryFor('getWorkflow', { params: { id: workflowId } }));
  return (
    <RecordQuery
      of={execution}
      title={text.executions.caption}
      back={getBackLink(workflowId)}
      pending={<GrayExecution />}
    >
      {(data) => <LoadedExecution execution={data} workflow={workflow} />}
    </RecordQuery>
  );
}

function GrayExecution() {
  return (
    <GrayColumns
      aside={
        <>
          <GrayCard lines={4} />
          <GrayCard lines={3} />
        </>
      }
    >
      <GrayTimeline entries={4} hasDetails />
    </GrayColumns>
  );
}

function getBackLink(workflowId: string) {
  return { to: `/messages/executions/${workflowId}`, label: text.executions.all };
}

function LoadedExecution({ execution, workflow }: { execution: Execution; workflow: Workflow | undefined }) {
  const { workflowId, steps } = execution;
  return (
    <>
      <PageHead
        title={execution.contactEmail ?? text.executions.erased}
        status={<WordBadge kind="execution" value={execution.status} />}
        subtitle={<Origin execution={execution} workflow={workflow} />}
        back={getBackLink(workflowId)}
        actions={<ExecutionActions execution={execution} workflow={workflow} />}
      />
      <Grid gutter="lg">
        <Grid.Col span={{ base: 12, md: 7.5 }}>
          <Title order={2} size="h5" mb="sm">
            {text.executions.steps}
          </Title>
          {steps.length === 0 ? (
            <Text c="dimmed">{execution.begun ? text.executions.noSteps : text.executions.queued}</Text>
          ) : (
            <StepLine steps={steps} workflow={workflow} />
          )}
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4.5 }}>
          <Stack gap="lg">
            <ExecutionDetails execution={execution} workflow={workflow} />
            <TriggerData execution={execution} />
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}

function Origin({ execution, workflow }: { execution: Execution; workflow: Workflow | undefined }) {
  const { exitReason, error, sandbox, workflowId } = execution;
  return (
    <Group gap="xs">
      <AppLink to={`/automations/${workflowId}`}>{workflow?.name ?? text.executions.automation}</AppLink>
      <ReasonText value={exitReason} />
      {/* Other errors are messages of a step, and the step shows them in full. */}
      {error && findWord('reason', error) && <ReasonText value={error} />}
      {sandbox && <Tag means={text.executions.sandboxMeans}>{text.executions.sandbox}</Tag>}
    </Group>
  );
}

function ExecutionDetails({ execution }: { execution: Execution; workflow: Workflow | undefined }) {
  const { id, contactId, contactEmail, startedAt, completedAt, temporal, eventName } = execution;
  return (
    <Facts title={text.executions.facts}>
      <Fact name={text.executions.contact}>
        {contactEmail ? <AppLink to={`/contacts/${contactId}`}>{contactEmail}</AppLink> : text.executions.erased}
      </Fact>
      <Fact name={text.executions.started}>
        <ExactTime at={startedAt} />
      </Fact>
      {completedAt && (
        <Fact name={text.executions.ended}>
          <ExactTime at={completedAt} />
        </Fact>
      )}
      <RequestFact of={id} />
      <Fact name={text.executions.trigger}>{eventName ?? text.executions.manualOrApi}</Fact>
      <Fact name={text.executions.emails}>
        <AppLink to={`/messages?workflowExecutionId=${id}&mode=all`}>{text.executions.viewEmails}</AppLink>
      </Fact>
      {temporal.url && (
        <Button
          component="a"
          href={temporal.url}
          target="_blank"
          rel="noreferrer"
          variant="default"
          size="xs"
          mt="xs"
          leftSection={<IconExternalLink size={14} aria-hidden />}
        >
          {text.executions.inTemporal}
        </Button>
      )}
    </Facts>
  );
}

function TriggerData({ execution: { event, context } }: { execution: Execution }) {
  const data = { [text.executions.event]: event, [text.executions.context]: context };
  const filled = Object.entries(data).filter(([, value]) => Object.keys(value).length > 0);
  if (filled.length === 0) return null;
  return (
    <Facts title={text.executions.input}>
      {filled.length === 1 && <JsonView value={filled[0]?.[1]} maxHeight={240} />}
      {filled.length > 1 &&
        filled.map(([name, value]) => (
          <details key={name} open>
            <summary>
              <Text span size="sm">
                {name}
              </Text>
            </summary>
            <JsonView value={value} maxHeight={240} />
          </details>
        ))}
    </Facts>
  );
}
