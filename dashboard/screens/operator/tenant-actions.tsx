import { Table, Text } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { CardSection } from '../../parts/card-section.tsx';
import { Instant } from '../../parts/instant.tsx';
import { text } from '../../text/text.ts';
import { CardTable } from './fact.tsx';

type Action = ResponseOf<'getTenant'>['actions'][number];

const words = text.operator;

/** Actions of operators on the project (holds, releases, limits), with their notes. */
export function TenantActions({ actions }: { actions: Action[] }) {
  return (
    <CardSection title={words.actions}>
      {actions.length === 0 ? (
        <Text size="sm" c="dimmed" className="card-block">
          {words.noActions}
        </Text>
      ) : (
        <CardTable label={words.actions} minWidth={300}>
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
                  {describeNote(entry.details) && `: ${describeNote(entry.details)}`}
                  <Text size="xs" c="dimmed" hiddenFrom="sm">
                    {getActorName(entry)}
                  </Text>
                </Table.Td>
                <Table.Td visibleFrom="sm" style={{ overflowWrap: 'anywhere' }}>
                  {getActorName(entry)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </CardTable>
      )}
    </CardSection>
  );
}

/** Returns the name of the operator, or a word for the service or a deleted user. */
function getActorName({ actor, actorName }: Action): string {
  return actorName ?? (actor === 'system' ? words.byService : words.byGone);
}

/** Returns the reason or note of an entry, or the limits that it set. */
function describeNote({ reason, note, operatorLimits }: Action['details']): string {
  if (typeof reason === 'string') return reason;
  if (typeof note === 'string') return note;
  if (typeof operatorLimits !== 'object' || operatorLimits === null) return '';
  return Object.entries(operatorLimits)
    .map(([name, value]) => `${name} ${value ?? text.parts.none}`)
    .join(', ');
}
