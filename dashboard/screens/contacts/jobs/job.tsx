import { Alert, Button, Group, Paper, Progress, Stack, Table, Text, Title } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { getOperationUrl, type ResponseOf } from '../../../api/client.ts';
import { queryFor } from '../../../api/queries.ts';
import { ExactTime } from '../../../parts/instant.tsx';
import { Placeholder } from '../../../parts/loading.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { GrayLines } from '../../../parts/pending-lines.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { ERROR_TEXT } from '../../../parts/tones.ts';
import { WordBadge } from '../../../parts/word-badge.tsx';
import { text } from '../../../text/text.ts';
import { ImportNotes, ImportWarnings } from '../import/import-warnings.tsx';
import { CancelJob } from './cancel-job.tsx';

const words = text.contacts.jobs;
const POLL_MS = 1_000;
const ERRORS_SHOWN = 50;

type Job = ResponseOf<'getImportJob'> | ResponseOf<'getBulkJob'>;

/** Progress and result of one job. The job continues after the user leaves. */
export function JobScreen() {
  const { kind, jobId } = useParams({ from: '/shell/contacts/jobs/$kind/$jobId' });
  const jobInput = { params: { jobId } };
  const isImport = kind === 'import';
  const interval = (job: Job | undefined) => (job && isOpen(job) ? POLL_MS : false);
  const ofImport = useQuery({
    ...queryFor('getImportJob', jobInput),
    enabled: isImport,
    refetchInterval: ({ state }) => interval(state.data),
  });
  const ofBulk = useQuery({
    ...queryFor('getBulkJob', jobInput),
    enabled: !isImport,
    refetchInterval: ({ state }) => interval(state.data),
  });
  const job = isImport ? ofImport : ofBulk;
  useReloadAfterJob(job.data);
  const name = job.data ? words.kinds[job.data.kind] : words.title;
  return (
    <>
      <PageHead
        title={name}
        status={job.data && <WordBadge kind="job" value={job.data.status} />}
        subtitle={job.data && isOpen(job.data) ? words.continues : undefined}
        back={{ to: '/contacts/jobs', label: words.title }}
        actions={
          <>
            {job.data && isOpen(job.data) && <CancelJob job={job.data} />}
            {isImport && (
              <Button component={Link} to="/contacts/import" variant="default">
                {words.another}
              </Button>
            )}
            <Button component={Link} to="/contacts">
              {words.toContacts}
            </Button>
          </>
        }
      />
      <QueryView of={job} pending={<PendingJob />}>
        {(loaded: Job) => <JobProgress job={loaded} />}
      </QueryView>
    </>
  );
}

function PendingJob() {
  return (
    <Placeholder>
      <Paper withBorder p="md">
        <GrayLines count={2} gap={0} />
      </Paper>
    </Placeholder>
  );
}

function isOpen({ state }: Job): boolean {
  return state === 'waiting' || state === 'active';
}

/** Marks the loaded contacts as stale when the job has ended. */
function useReloadAfterJob(job: Job | undefined): void {
  const queries = useQueryClient();
  const ended = job !== undefined && !isOpen(job);
  useEffect(() => {
    if (!ended) return;
    const stale = ['listContacts', 'listContactJobs', 'getContact', 'listContactFields', 'listSegments'];
    void queries.invalidateQueries({ predicate: ({ queryKey }) => stale.includes(String(queryKey[0])) });
  }, [ended, queries]);
}

function JobProgress({ job }: { job: Job }) {
  const { status, progress, processed, total, failedReason, result, createdAt, completedAt } = job;
  return (
    <Stack>
      <Paper withBorder p="md">
        <Progress value={progress} aria-label={words.progress} color={status === 'FAILED' ? 'red' : undefined} />
        <Group mt="xs" gap="md" aria-live="polite">
          <Text size="sm">{words.of(processed, total)}</Text>
          {'createdCount' in result ? (
            <>
              <Text size="sm">{words.created(result.createdCount)}</Text>
              <Text size="sm">{words.updated(result.updatedCount)}</Text>
            </>
          ) : (
            <Text size="sm">{words.succeeded(result.successCount)}</Text>
          )}
          {result.failureCount > 0 && (
            <Text size="sm" c={ERROR_TEXT}>
              {words.failed(result.failureCount)}
            </Text>
          )}
          <Text size="sm" c="dimmed" ml="auto">
            <ExactTime at={completedAt ?? createdAt} />
          </Text>
        </Group>
      </Paper>
      {status === 'CANCELLED' && <Alert color="gray">{words.cancelledHelp}</Alert>}
      {failedReason && (
        <Alert color="red" role="alert">
          {failedReason}
        </Alert>
      )}
      {'notes' in result && <ImportNotes notes={result.notes} />}
      {'warnings' in result && <ImportWarnings warnings={result.warnings ?? []} />}
      {result.errors.length > 0 && <Errors job={job} />}
      {status === 'COMPLETED' && 'createdCount' in result && <NextSteps />}
    </Stack>
  );
}

/** Offers the next step after an import: a segment or a campaign with the contacts. */
function NextSteps() {
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h5">
        {words.next}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {words.nextHelp}
      </Text>
      <Group gap="xs">
        <Button component={Link} to="/segments/new" variant="default">
          {words.toSegment}
        </Button>
        <Button component={Link} to="/campaigns/new" variant="default">
          {words.toCampaign}
        </Button>
      </Group>
    </Paper>
  );
}

function Errors({ job: { id, result } }: { job: Job }) {
  const rows = result.errors
    .slice(0, ERRORS_SHOWN)
    .map((error) =>
      'row' in error
        ? { key: `${error.row}`, where: String(error.row), who: error.email, what: error.error }
        : { key: error.contactId, where: '', who: error.contactId, what: error.error },
    );
  const isImport = 'createdCount' in result;
  return (
    <Paper withBorder p="md">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {words.firstErrors}
        </Title>
        {isImport && (
          <Button
            component="a"
            href={getOperationUrl('exportImportErrors', { params: { jobId: id } })}
            download
            size="xs"
            variant="default"
            leftSection={<IconDownload size={14} aria-hidden />}
          >
            {words.badRows}
          </Button>
        )}
      </Group>
      <Table.ScrollContainer minWidth={300} type="native" mah={420}>
        <Table aria-label={words.firstErrors}>
          <Table.Thead>
            <Table.Tr>
              {isImport && <Table.Th w={70}>{words.row}</Table.Th>}
              <Table.Th>{text.contacts.add.email}</Table.Th>
              <Table.Th>{words.error}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ key, where, who, what }) => (
              <Table.Tr key={key}>
                {isImport && <Table.Td>{where}</Table.Td>}
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{who}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{what}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  );
}
