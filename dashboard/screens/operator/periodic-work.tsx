import { Alert, Box, Group, Table, Text } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { Instant } from '../../parts/instant.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { formatSeconds } from './amounts.ts';
import { CardTable, Explained, FactCard, WARNING } from './fact.tsx';
import type { FactState } from './states.ts';

type Work = ResponseOf<'getOperatorHealth'>['periodicWork'][number];

const words = text.operator;

/** Shows the state of each kind of periodic work. */
export function PeriodicWork({ kinds, state }: { kinds: Work[]; state: FactState }) {
  const late = kinds.filter((work) => work.late).map(({ kind }) => words.periodicKinds[kind]);
  return (
    <FactCard title={words.periodicWork} state={state}>
      {late.length > 0 && (
        <Box className="card-block">
          <Alert color="orange">{words.lateWork(late.join(', '))}</Alert>
        </Box>
      )}
      <CardTable label={words.periodicWork}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.kind}</Table.Th>
            <Table.Th>{words.lastEnd}</Table.Th>
            <Table.Th ta="right" visibleFrom="sm">
              {words.duration}
            </Table.Th>
            <Table.Th ta="right">
              <Explained means={words.backlogMeans}>{words.backlogOf}</Explained>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {kinds.map((work) => (
            <Row key={work.kind} work={work} />
          ))}
        </Table.Tbody>
      </CardTable>
    </FactCard>
  );
}

function Row({ work }: { work: Work }) {
  const { kind, everyMinutes, running, lastEndedAt, lastDurationSeconds, backlog, lastError, lastErrorAt, late } = work;
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <Group gap="0 var(--mantine-spacing-xs)">
          <Text span inherit fw={500}>
            <Explained means={words.periodicKindMeans[kind]}>{words.periodicKinds[kind]}</Explained>
          </Text>
          <Text span size="xs" c="dimmed">
            {words.everyMinutes(everyMinutes)}
          </Text>
          {running && <Status tone="moving">{words.running}</Status>}
        </Group>
        {lastError && (
          <Text size="xs" c="dimmed" lineClamp={3}>
            {words.lastErrorAt}
            {lastErrorAt && (
              <>
                {' '}
                <Instant at={lastErrorAt} />
              </>
            )}
            : {lastError}
          </Text>
        )}
      </Table.Td>
      <Table.Td c={late ? WARNING : lastEndedAt ? undefined : 'dimmed'} fw={late ? 600 : 400}>
        {lastEndedAt ? <Instant at={lastEndedAt} /> : words.neverEnded}
        {late && (
          <>
            {' '}
            <Explained means={words.lateMeans}>({words.late})</Explained>
          </>
        )}
        {lastDurationSeconds !== null && (
          <Text size="xs" c="dimmed" fw={400} hiddenFrom="sm">
            {words.took(formatSeconds(lastDurationSeconds))}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right" visibleFrom="sm">
        {lastDurationSeconds !== null && formatSeconds(lastDurationSeconds)}
      </Table.Td>
      <Table.Td ta="right" c={backlog > 0 ? WARNING : 'dimmed'} fw={backlog > 0 ? 600 : 400}>
        {formatCount(backlog)}
      </Table.Td>
    </Table.Tr>
  );
}
