import { Alert, Stack, Table, Text } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { Instant } from '../../parts/instant.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { CardTable, FactCard } from './fact.tsx';
import type { FactState } from './states.ts';

type Process = ResponseOf<'getOperatorHealth'>['processes'][number];

const words = text.operator;

/** Lists the running processes with their releases. */
export function Processes({ processes, state }: { processes: Process[]; state: FactState }) {
  const alive = processes.filter((process) => process.alive);
  const hasWorker = alive.some(({ kind }) => kind === 'worker');
  const builds = new Set(alive.map(({ build }) => build));
  return (
    <FactCard title={words.processes} state={state}>
      {processes.length === 0 && (
        <Text size="sm" c="dimmed" className="card-block">
          {words.noProcesses}
        </Text>
      )}
      {((processes.length > 0 && !hasWorker) || builds.size > 1) && (
        <Stack gap="xs" className="card-block">
          {!hasWorker && <Alert color="red">{words.noWorkers}</Alert>}
          {builds.size > 1 && <Alert color="orange">{words.differentBuilds}</Alert>}
        </Stack>
      )}
      {processes.length > 0 && <List processes={processes} />}
    </FactCard>
  );
}

function List({ processes }: { processes: Process[] }) {
  return (
    <CardTable label={words.processes}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.process}</Table.Th>
          <Table.Th visibleFrom="sm">{words.host}</Table.Th>
          <Table.Th>{words.release}</Table.Th>
          <Table.Th visibleFrom="sm">{words.runsSince}</Table.Th>
          <Table.Th>{words.seen}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {processes.map(({ id, kind, host, pid, version, build, startedAt, seenAt, alive }) => (
          <Table.Tr key={id}>
            <Table.Td>
              <Text span inherit fw={500}>
                {words.kinds[kind]}
              </Text>{' '}
              <Text span size="xs" c="dimmed">
                {pid}
              </Text>
            </Table.Td>
            <Table.Td visibleFrom="sm" style={{ overflowWrap: 'anywhere' }}>
              {host}
            </Table.Td>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              {version}{' '}
              <Text span size="xs" c="dimmed">
                {words.build(build.slice(0, 8))}
              </Text>
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Instant at={startedAt} />
            </Table.Td>
            <Table.Td>{alive ? <Runs /> : <NotResponding seenAt={seenAt} />}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </CardTable>
  );
}

function Runs() {
  return <Status tone="done">{words.alive}</Status>;
}

function NotResponding({ seenAt }: { seenAt: string }) {
  return (
    <>
      <Status tone="failed" means={words.goneMeans}>
        {words.gone}
      </Status>
      <Text size="xs" c="dimmed">
        <Instant at={seenAt} />
      </Text>
    </>
  );
}
