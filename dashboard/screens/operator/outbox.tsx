import { Table, Text } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { text } from '../../text/text.ts';
import { formatSeconds } from './amounts.ts';
import { CardTable, Explained, FactCard, WARNING } from './fact.tsx';
import { type FactState, OLD_SECONDS } from './states.ts';

type Row = ResponseOf<'getOperatorHealth'>['outbox'][number];

const words = text.operator;

/** Accepted work that has not started. */
export function Outbox({ rows, state }: { rows: Row[]; state: FactState }) {
  return (
    <FactCard title={words.outbox} subtitle={words.outboxMeans} state={state}>
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed" className="card-block">
          {words.outboxEmpty}
        </Text>
      ) : (
        <CardTable label={words.outbox}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.kind}</Table.Th>
              <Table.Th ta="right">{words.waiting}</Table.Th>
              <Table.Th ta="right" visibleFrom="sm">
                <Explained means={words.handedOverMeans}>{words.handedOver}</Explained>
              </Table.Th>
              <Table.Th ta="right">{words.oldest}</Table.Th>
              <Table.Th ta="right" visibleFrom="sm">
                {words.projects}
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <OutboxRow key={row.kind} row={row} />
            ))}
          </Table.Tbody>
        </CardTable>
      )}
    </FactCard>
  );
}

function OutboxRow({ row }: { row: Row }) {
  const { kind, waiting, handedOver, oldestSeconds, projects, failing, lastError } = row;
  const isOld = oldestSeconds > OLD_SECONDS;
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <Text inherit fw={500}>
          {kind}
        </Text>
        {lastError && (
          <Text size="xs" c="dimmed" lineClamp={2} title={lastError}>
            {words.failing(formatCount(failing))}: {lastError}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right">{formatCount(waiting)}</Table.Td>
      <Table.Td ta="right" visibleFrom="sm">
        {formatCount(handedOver)}
      </Table.Td>
      <Table.Td ta="right" c={isOld ? WARNING : undefined} fw={isOld ? 600 : 400}>
        {formatSeconds(oldestSeconds)}
      </Table.Td>
      <Table.Td ta="right" visibleFrom="sm">
        {formatCount(projects)}
      </Table.Td>
    </Table.Tr>
  );
}
