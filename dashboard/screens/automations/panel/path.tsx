import { Anchor, Button, Code, Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ResponseOf } from '../../../api/client.ts';
import { queryFor } from '../../../api/queries.ts';
import { Instant } from '../../../parts/instant.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import classes from '../../../parts/timeline.module.css';
import { getTone, WordBadge } from '../../../parts/word-badge.tsx';
import { text } from '../../../text/text.ts';
import { findStep, toGraph, type WorkflowDetail } from '../graph/graph.ts';

const t = text.automations;
type PreviewResponse = ResponseOf<'previewWorkflow'>;
type PreviewStep = PreviewResponse['steps'][number];
type Run = ResponseOf<'getExecution'>;

/** How often a running path is refreshed. */
const EVERY_MS = 1_000;

/** Lists the steps of a preview, each with its time, what it would do, and why. */
export function PreviewPath({
  preview,
  onStep,
  onClear,
}: {
  preview: PreviewResponse;
  onStep: (stepId: string) => void;
  onClear: () => void;
}) {
  return (
    <Path
      status={preview.status}
      reason={preview.exitReason ?? preview.error}
      waits={preview.status === 'WAITING'}
      onClear={onClear}
    >
      {preview.steps.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the n-th visit
        <li key={index} data-tone="done">
          <StepLink name={step.name} onClick={() => onStep(step.stepId)} />
          <div className={classes.detail}>
            <PreviewWords step={step} />
          </div>
        </li>
      ))}
    </Path>
  );
}

function Path(p: { status: string; reason: string | null; waits: boolean; onClear: () => void; children: ReactNode }) {
  return (
    <Stack gap="sm" aria-live="polite">
      <Group justify="space-between">
        <Text fw={600} size="sm">
          {t.path}
        </Text>
        <Button size="compact-xs" variant="subtle" onClick={p.onClear}>
          {t.clearPath}
        </Button>
      </Group>
      <Group gap="xs">
        <WordBadge kind="execution" value={p.status} />
        {p.reason && <Text size="sm">{p.reason}</Text>}
      </Group>
      {p.waits && (
        <Text size="xs" c="dimmed">
          {t.pathWaits}
        </Text>
      )}
      <ol className={classes.timeline}>{p.children}</ol>
    </Stack>
  );
}

function StepLink({ name, onClick }: { name: string; onClick: () => void }) {
  return (
    <UnstyledButton onClick={onClick} fz="sm" fw={600}>
      {name}
    </UnstyledButton>
  );
}

/** Shows when the contact reached a step, and until when the step waits. */
function VisitTimes({ at, dueAt }: { at: string; dueAt: string | null }) {
  return (
    <Text size="xs" c="dimmed" component="div">
      <Instant at={at} />
      {dueAt && (
        <>
          {' · '}
          {t.waits('')}
          <Instant at={dueAt} />
        </>
      )}
    </Text>
  );
}

function PreviewWords({ step }: { step: PreviewStep }) {
  const { at, dueAt, branch, wouldSend, reason, to, subject, body, request, contact, filters, error, status } = step;
  return (
    <Stack gap={2} fz="xs">
      <VisitTimes at={at} dueAt={dueAt} />
      {status !== 'COMPLETED' && (
        <Group gap="xs">
          <WordBadge kind="execution" value={status} />
        </Group>
      )}
      {wouldSend !== null && (
        <Group gap={6}>
          <Text size="xs">
            {wouldSend ? t.sends : t.notSent} {to && t.toAddress(to)}
          </Text>
          {reason !== error && <WordBadge kind="reason" value={reason} />}
        </Group>
      )}
      {subject && <Text size="xs">{subject}</Text>}
      {body && <Text size="xs">{body}</Text>}
      {filters?.map(({ field, operator, value, unit, holds }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the n-th filter of the condition
        <Text key={index} size="xs">
          <Code>{[field, operator, value === undefined ? '' : String(value), unit].filter(Boolean).join(' ')}</Code>{' '}
          {holds ? t.matches : t.doesNotMatch}
        </Text>
      ))}
      {branch && <Text size="xs">→ {branch}</Text>}
      {request && (
        <Code block fz={11}>
          {request.method} {request.url}
        </Code>
      )}
      {contact && (
        <Code block fz={11}>
          {JSON.stringify(contact, null, 1)}
        </Code>
      )}
      {error && (
        <Text size="xs" c="red">
          {error}
        </Text>
      )}
    </Stack>
  );
}

/** Returns a run, refreshed every second until it has ended. */
export function useRun(workflowId: string, runId: string | undefined) {
  return useQuery({
    ...queryFor('getExecution', { params: { id: workflowId, executionId: runId ?? '' } }),
    enabled: runId !== undefined,
    refetchInterval: ({ state }) => (state.data?.completedAt ? false : EVERY_MS),
  });
}

export function RunPath({
  workflow,
  runId,
  onStep,
  onClear,
}: {
  workflow: WorkflowDetail;
  runId: string;
  onStep: (stepId: string) => void;
  onClear: () => void;
}) {
  const run = useRun(workflow.id, runId);
  const graph = toGraph(workflow);
  return (
    <QueryView of={run} height={120}>
      {(run) => (
        <Path
          status={run.status}
          reason={run.exitReason ?? run.error ?? (run.completedAt ? null : t.running)}
          waits={false}
          onClear={onClear}
        >
          {run.steps.map((visit, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the n-th visit
            <li key={index} data-tone={getTone('execution', visit.status)}>
              <StepLink name={findStep(graph, visit.stepId)?.name ?? visit.type} onClick={() => onStep(visit.stepId)} />
              <div className={classes.detail}>
                <VisitWords visit={visit} />
              </div>
            </li>
          ))}
        </Path>
      )}
    </QueryView>
  );
}

function VisitWords({ visit: { status, startedAt, dueAt, output, error } }: { visit: Run['steps'][number] }) {
  const { emailId, reason, branch } = output ?? {};
  return (
    <Stack gap={2}>
      <Group gap={6}>
        <WordBadge kind="execution" value={status} />
        {typeof reason === 'string' && <WordBadge kind="reason" value={reason} />}
      </Group>
      <VisitTimes at={startedAt} dueAt={dueAt} />
      {typeof branch === 'string' && <Text size="xs">→ {branch}</Text>}
      {typeof emailId === 'string' && (
        <Anchor component={Link} to={`/messages/${emailId}`} size="xs">
          {t.viewEmail}
        </Anchor>
      )}
      {error && (
        <Text size="xs" c="red">
          {error}
        </Text>
      )}
    </Stack>
  );
}
