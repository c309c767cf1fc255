import { Table, Text } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { CardSection } from '../../parts/card-section.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { text } from '../../text/text.ts';
import { CardTable } from './fact.tsx';

const words = text.operator;

/** Lists the mailbox providers that refuse this project's email because of its sender. */
export function SenderRefusals({ refusals }: { refusals: ResponseOf<'getTenant'>['refusals'] }) {
  return (
    <CardSection title={words.refusals}>
      <Text size="sm" c="dimmed" className="card-block">
        {refusals.length === 0 ? words.noRefusals : words.refusalsMean}
      </Text>
      {refusals.length > 0 && (
        <CardTable label={words.refusals}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.provider}</Table.Th>
              <Table.Th ta="right">{words.refused}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {refusals.map(({ provider, refused, of }) => (
              <Table.Tr key={provider}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{provider}</Table.Td>
                <Table.Td ta="right">{words.refusedOf(formatCount(refused), formatCount(of))}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </CardTable>
      )}
    </CardSection>
  );
}
