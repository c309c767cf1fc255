import { Paper, Table, Text, Title } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { text } from '../../text/text.ts';

const words = text.operator;

/** Mailbox providers that refuse the project's email because of its sender. */
export function TenantRefusals({ refusals }: { refusals: ResponseOf<'getTenant'>['refusals'] }) {
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h4" mb="xs">
        {words.refusals}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {words.refusalsMean}
      </Text>
      {refusals.length === 0 ? (
        <Text size="sm">{words.noRefusals}</Text>
      ) : (
        <Table verticalSpacing={4} aria-label={words.refusals}>
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
        </Table>
      )}
    </Paper>
  );
}
