import { Anchor, Group, Progress, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getOperationUrl } from '../../../api/client.ts';
import { type ItemOf, infiniteQueryFor } from '../../../api/queries.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { CursorTable } from '../../../parts/cursor-table.tsx';
import { Empty } from '../../../parts/empty.tsx';
import { Instant } from '../../../parts/instant.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import type { Column } from '../../../parts/row-table.tsx';
import { ERROR_TEXT } from '../../../parts/tones.ts';
import { WordBadge } from '../../../parts/word-badge.tsx';
import { text } from '../../../text/text.ts';

const words = text.contacts.jobs;
const POLL_MS = 1_000;

type Job = ItemOf<'listContactJobs'>;

/** All imports and bulk jobs, with their progress. */
export function Jobs() {
  const pages = useInfiniteQuery({
    ...infiniteQueryFor('listContactJobs'),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some(({ state: is }) => is === 'waiting' || is === 'active'))
        ? POLL_MS
        : false,
  });
  return (
    <>
      <PageHead title={words.title} subtitle={words.subtitle} back={{ to: '/contacts', label: text.contacts.title }} />
      <CursorTable
        pages={pages}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        caption={words.caption}
        empty={<Empty title={words.none} what={words.noneHelp} />}
      />
    </>
  );
}

const COLUMNS: Column<Job>[] = [
  {
    name: words.what,
    isWhole: true,
    cell: ({ id, kind }) => (
      <AppLink to={`/contacts/jobs/${kind === 'import' ? 'import' : 'bulk'}/${id}`} style={{ whiteSpace: 'nowrap' }}>
        {words.kinds[kind]}
      </AppLink>
    ),
  },
  { name: words.status, cell: ({ status }) => <WordBadge kind="job" value={status} /> },
  {
    name: words.progress,
    wideOnly: true,
    width: 240,
    cell: ({ progress, processed, total }) => (
      <Group gap="xs" wrap="nowrap">
        <Progress value={progress} aria-label={words.progress} flex={1} miw={60} />
        <Text size="xs" c="dimmed" miw={88} ta="right" style={{ whiteSpace: 'nowrap' }}>
          {words.of(processed, total)}
        </Text>
      </Group>
    ),
  },
  { name: words.result, cell: (job) => <Result job={job} /> },
  { name: words.begun, wideOnly: true, cell: ({ createdAt }) => <Instant at={createdAt} /> },
];

function Result({ job: { id, kind, result, failedReason } }: { job: Job }) {
  const { successCount, failureCount } = result;
  if (failedReason !== null && successCount === 0) {
    return (
      <Text size="sm" c={ERROR_TEXT} lineClamp={2} title={failedReason}>
        {failedReason}
      </Text>
    );
  }
  return (
    <Group gap="xs">
      <Text size="sm">{words.succeeded(successCount)}</Text>
      {failureCount > 0 && (
        <Text size="sm" c={ERROR_TEXT}>
          {words.failed(failureCount)}
        </Text>
      )}
      {kind === 'import' && failureCount > 0 && (
        <Anchor size="sm" href={getOperationUrl('exportImportErrors', { params: { jobId: id } })} download>
          {words.badRows}
        </Anchor>
      )}
    </Group>
  );
}
