import { Table, Text } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { text } from '../../text/text.ts';
import { formatSeconds } from './amounts.ts';
import { CardTable, Explained, WARNING } from './fact.tsx';

const words = text.operator;
const RATE = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** Temporal's task queues, with the number of waiting tasks. */
export function Queues({ queues }: { queues: ResponseOf<'getOperatorHealth'>['temporal']['queues'] }) {
  return (
    <CardTable label={words.queues} minWidth={300}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th className="cell-main">{words.queue}</Table.Th>
          <Table.Th ta="right">{words.backlog}</Table.Th>
          <Table.Th ta="right" visibleFrom="sm">
            {words.inOut}
          </Table.Th>
          <Table.Th ta="right">{words.pollers}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {queues.map(({ queue, backlog, backlogSeconds, addedPerSecond, dispatchedPerSecond, pollers }) => (
          <Table.Tr key={queue}>
            <Table.Td className="cell-main">
              <div className="name-cell">
                <Text span inherit fw={500}>
                  {queue}
                </Text>
                <Text span size="xs" c="dimmed">
                  {words.queueMeans[queue]}
                </Text>
              </div>
            </Table.Td>
            <Table.Td ta="right" c={backlog === 0 ? 'dimmed' : undefined}>
              {formatCount(backlog)}
              {backlog > 0 && ` · ${formatSeconds(backlogSeconds)}`}
            </Table.Td>
            <Table.Td ta="right" visibleFrom="sm" c={addedPerSecond + dispatchedPerSecond === 0 ? 'dimmed' : undefined}>
              {RATE.format(addedPerSecond)} / {RATE.format(dispatchedPerSecond)}
            </Table.Td>
            <Table.Td ta="right" c={pollers === 0 ? WARNING : undefined} fw={pollers === 0 ? 600 : 400}>
              <Explained means={pollers === 0 ? words.noWorker : undefined}>{formatCount(pollers)}</Explained>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </CardTable>
  );
}
