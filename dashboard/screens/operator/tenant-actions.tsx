import { Paper, Table, Text, Title } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { Instant } from '../../parts/instant.tsx';
import { text } from '../../text/text.ts';

type Action = ResponseOf<'getTenant'>['actions'][number];

const words = text.operator;

/** Actions of operators on the project (holds, releases, limits), with their notes. */
export function TenantActions({ actions }: { actions: Action[] }) {
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h4" mb="xs">
        {words.actions}
      </Title>
      {actions.length === 0 ? (
        <Text size="sm">{words.noActions}</Text>
      ) : (
        <Table.ScrollContainer minWidth={300} type="native">
          <Table verticalSpacing={6} aria-label={words.actions}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.when}</Table.Th>
                <Table.Th>{words.what}</Table.Th>
                <Table.Th visibleFrom="sm">{words.by}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {actions.map((entry) => (
                <Table.Tr key={entry.id}>
                  <Table.Td style={{ whiteSpace: 'nowrap' }}>
                    <Instant at={entry.createdAt} />
                  </Table.Td>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>
                    {words.action[entry.action] ?? entry.action}
                    {noteOf(entry.details) && `: ${noteOf(entry.details)}`}
                    <Text size="xs" c="dimmed" hiddenFrom="sm">
                      {nameOf(entry)}
                    </Text>
                  </Table.Td>
                  <Table.Td visibleFrom="sm" style={{ overflowWrap: 'anywhere' }}>
                    {nameOf(entry)}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Paper>
  );
}

/** Returns the name of the operator. */
function nameOf({ actor, actorName }: Action): string {
  return actorName ?? (actor === 'system' ? words.byService : words.byGone);
}

/** Returns the reason or note of an entry, or the limits that it set. */
function noteOf({ reason, note, operatorLimits }: Action['details']): string {
  if (typeof reason === 'string') return reason;
  if (typeof note === 'string') return note;
  if (typeof operatorLimits !== 'object' || operatorLimits === null) return '';
  return Object.entries(operatorLimits)
    .map(([name, value]) => `${name} ${value ?? text.parts.none}`)
    .join(', ');
}
