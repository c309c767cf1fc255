import { Alert, Table, Text } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { Instant } from '../../parts/instant.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { Explained, FactCard } from './fact.tsx';
import type { FactState } from './states.ts';

type Process = ResponseOf<'getOperatorHealth'>['processes'][number];

const words = text.operator;

/** Lists the running processes with their releases. */
export function Processes({ processes, state }: { processes: Process[]; state: FactState }) {
  const alive = processes.filter((process) => process.alive);
  const hasWorker = alive.some(({ kind }) => kind === 'worker');
  const builds = new Set(alive.map(({ build }) => build));
  return (
    <FactCard title={words.processes} standing={state}>
      {processes.length === 0 && <Text size="sm">{words.noProcesses}</Text>}
      {processes.length > 0 && !hasWorker && <Alert color="red">{words.noWorkers}</Alert>}
      {builds.size > 1 && <Alert color="orange">{words.differentBuilds}</Alert>}
      {processes.length > 0 && <List processes={processes} />}
    </FactCard>
  );
}

function List({ processes }: { processes: Process[] }) {
  return (
    <Table.ScrollContainer minWidth={320} type="native">
      <Table verticalSpacing={4} aria-label={words.processes}>
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
                {words.kinds[kind]}{' '}
                <Text span size="sm" c="dimmed">
                  {pid}
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="sm" style={{ overflowWrap: 'anywhere' }}>
                {host}
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {version}{' '}
                <Text span size="sm" c="dimmed">
                  {words.build(build.slice(0, 8))}
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <Instant at={startedAt} />
              </Table.Td>
              <Table.Td>{alive ? <Runs /> : <Gone seenAt={seenAt} />}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Runs() {
  return <Status tone="done">{words.alive}</Status>;
}

function Gone({ seenAt }: { seenAt: string }) {
  return (
    <>
      <Explained means={words.goneMeans}>{words.gone}</Explained>, <Instant at={seenAt} />
    </>
  );
}
