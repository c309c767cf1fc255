import { Group, Paper, Progress, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { queryFor } from '../../../api/queries.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { text } from '../../../text/text.ts';

const words = text.contacts.jobs;
const POLL_MS = 1_000;
const SHOWN = 5;

/** Reads the first five running jobs, and their total. */
export function useRunningJobs() {
  return useQuery({
    ...queryFor('listContactJobs', { query: { active: true, limit: SHOWN } }),
    // Pauses while the tab is hidden.
    refetchInterval: ({ state }) => ((state.data?.data.length ?? 0) > 0 ? POLL_MS : false),
  });
}

/** Shows running jobs that change contacts, with their progress. When a job ends, the contacts are loaded again. */
export function RunningJobs() {
  const queries = useQueryClient();
  const jobs = useRunningJobs();
  const open = jobs.data?.data ?? [];
  const before = useRef(0);
  useEffect(() => {
    if (open.length < before.current) void queries.invalidateQueries({ queryKey: ['listContacts'] });
    before.current = open.length;
  }, [open.length, queries]);
  if (open.length === 0) return null;
  return (
    <Paper withBorder mb="md" p="sm" role="status">
      <Text size="sm" fw={600} mb={4}>
        {words.underWay(jobs.data?.total ?? open.length)}
      </Text>
      {open.map(({ id, kind, progress, processed, total }) => (
        <Group key={id} gap="sm" wrap="nowrap">
          <Text size="sm" style={{ flex: 'none' }}>
            <AppLink to={`/contacts/jobs/${kind === 'import' ? 'import' : 'bulk'}/${id}`}>{words.kinds[kind]}</AppLink>
          </Text>
          <Progress value={progress} aria-label={words.kinds[kind]} style={{ flex: '1 1 80px' }} miw={60} />
          <Text size="sm" style={{ flex: 'none' }}>
            {words.of(processed, total)}
          </Text>
        </Group>
      ))}
    </Paper>
  );
}
