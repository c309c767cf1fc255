import { Anchor, Chip, Group, Paper, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ItemOf, infiniteQueryFor } from '../../../api/queries.ts';
import { formatCount } from '../../../parts/count-link.tsx';
import { Failed } from '../../../parts/failed.tsx';
import { Instant } from '../../../parts/instant.tsx';
import { PageFoot } from '../../../parts/page-foot.tsx';
import { PendingLines } from '../../../parts/pending-lines.tsx';
import { WordBadge } from '../../../parts/word-badge.tsx';
import { text } from '../../../text/text.ts';
import type { StepCounts } from '../canvas/drawing.ts';
import type { Step } from '../graph/graph.ts';
import { VISIT_STATUSES, type VisitStatus } from '../routes.ts';

const t = text.automations;
const EVERY_MS = 2_000;

type Visit = ItemOf<'listStepVisits'>;

/** Contacts that left a step, by result: done, skipped with the reason, failed with the error, or exited early. */
export function Visits({
  workflowId,
  step,
  status,
  branch,
  counts,
  onStatus,
}: {
  workflowId: string;
  step: Step;
  status: VisitStatus;
  /** Lists only contacts that left by this branch. */
  branch: string | undefined;
  counts: StepCounts | undefined;
  onStatus: (status: VisitStatus) => void;
}) {
  return (
    <Stack gap="sm">
      <Chip.Group value={status} onChange={(next) => onStatus(next as VisitStatus)}>
        <Group gap={6} role="radiogroup" aria-label={t.visitsOf}>
          {VISIT_STATUSES.map((one) => (
            <Chip key={one} value={one} size="xs">
              {formatStatusLabel(one, counts)}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <Text size="xs" c="dimmed">
        {t.visitMeans[status]}
      </Text>
      {branch !== undefined && (
        <Group gap="xs">
          <Text size="sm">{t.leftBy(branch)}</Text>
          <Anchor component="button" type="button" size="sm" onClick={() => onStatus(status)}>
            {t.allBranches}
          </Anchor>
        </Group>
      )}
      <VisitList
        key={`${status} ${branch}`}
        workflowId={workflowId}
        stepId={step.id}
        query={{ status, limit: 20, ...(branch !== undefined && { branch }) }}
      />
    </Stack>
  );
}

/** Cancelled visits have no count. */
function formatStatusLabel(status: VisitStatus, counts: StepCounts | undefined): string {
  const word = t.visitWords[status];
  if (!counts || status === 'CANCELLED') return word;
  const n = { COMPLETED: counts.completed, SKIPPED: counts.skipped, FAILED: counts.failed }[status];
  return `${word} ${formatCount(n)}`;
}

function VisitList({
  workflowId,
  stepId,
  query,
}: {
  workflowId: string;
  stepId: string;
  query: { status: VisitStatus; branch?: string; limit: number };
}) {
  const visitsQuery = infiniteQueryFor('listStepVisits', { params: { id: workflowId, stepId }, query });
  const pages = useInfiniteQuery({
    ...visitsQuery,
    // Refreshing stops once later pages are loaded, so that rows do not move while the user reads.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : EVERY_MS),
  });
  const { data, error, refetch } = pages;
  if (!data) return error ? <Failed error={error} retry={() => void refetch()} /> : <PendingLines height={120} />;
  const visits = data.pages.flatMap((page) => page.data);
  if (visits.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t.noVisits[query.status]}
      </Text>
    );
  }
  return (
    <Stack gap="xs">
      <Stack gap="xs" component="ul" aria-label={t.visitsCaption} p={0} m={0} style={{ listStyle: 'none' }}>
        {visits.map((visit) => (
          <li key={`${visit.executionId} ${visit.completedAt}`}>
            <OneVisit workflowId={workflowId} visit={visit} />
          </li>
        ))}
      </Stack>
      <PageFoot pages={pages} shown={visits.length} total={data.pages[0]?.total} />
    </Stack>
  );
}

function OneVisit({ workflowId, visit }: { workflowId: string; visit: Visit }) {
  const { executionId, contactId, email, completedAt, attempts, output, error } = visit;
  const { reason, branch, emailId } = output ?? {};
  return (
    <Paper withBorder p="xs">
      <Group justify="space-between" wrap="nowrap" gap="xs">
        {email === null ? (
          <Text size="sm">{t.erased}</Text>
        ) : (
          <Anchor component={Link} to={`/contacts/${contactId}`} size="sm" truncate>
            {email}
          </Anchor>
        )}
        <Text size="xs" c="dimmed" component="div" style={{ whiteSpace: 'nowrap' }}>
          <Instant at={completedAt} />
        </Text>
      </Group>
      {typeof reason === 'string' && <WordBadge kind="reason" value={reason} />}
      {error && (
        <Text size="xs" c="red" style={{ overflowWrap: 'anywhere' }} lineClamp={4}>
          {error}
        </Text>
      )}
      <Group gap="sm" mt={4}>
        {typeof branch === 'string' && <Text size="xs">→ {branch}</Text>}
        {attempts > 1 && (
          <Text size="xs" c="dimmed">
            {t.attempts(attempts)}
          </Text>
        )}
        <Anchor component={Link} to={`/messages/executions/${workflowId}/${executionId}`} size="xs">
          {t.openRun}
        </Anchor>
        {typeof emailId === 'string' && (
          <Anchor component={Link} to={`/messages/${emailId}`} size="xs">
            {t.viewEmail}
          </Anchor>
        )}
      </Group>
    </Paper>
  );
}
