import { Button, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { listQueryFor, useWrite } from '../../api/queries.ts';
import { Instant } from '../../parts/instant.tsx';
import { text } from '../../text/text.ts';
import { FactCard } from './fact.tsx';

const words = text.operator;
const POLL_MS = 5_000;

/** Shows the paused routes with the mail server's reply. Renders nothing if no route is paused. */
export function RoutePauses() {
  const pauses = useQuery({ ...listQueryFor('listRoutePauses'), refetchInterval: POLL_MS });
  const resume = useWrite('resumeRoute', { changes: ['listRoutePauses'] });
  const pausedRoutes = pauses.data?.data ?? [];
  if (pausedRoutes.length === 0) return null;
  return (
    <FactCard title={words.routePauses} subtitle={words.routePausesMean} state="unreachable">
      <Stack gap="sm" className="card-block">
        {pausedRoutes.map(({ id, projectName, reply, since }) => (
          <Group key={id} justify="space-between" wrap="nowrap">
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {projectName ?? words.allProjects}: {reply}{' '}
              <Text span c="dimmed" size="sm">
                {text.home.since} <Instant at={since} />
              </Text>
            </Text>
            <Button size="compact-sm" onClick={() => resume.mutate({ params: { id } })} loading={resume.isPending}>
              {words.resumeRoute}
            </Button>
          </Group>
        ))}
      </Stack>
    </FactCard>
  );
}
