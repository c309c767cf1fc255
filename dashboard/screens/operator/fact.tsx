import { Group, Paper, Table, Text, Title, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import type { FactState } from './states.ts';

export const TONES = { well: 'done', look: 'waiting', away: 'failed' } as const;
/** Color of text that needs attention; readable on both backgrounds. */
export const WARNING = 'var(--mantine-color-orange-light-color)';
const TOUCHED = { hover: true, focus: true, touch: true };

/** Shows a state as a dot and a word. */
export function StateBadge({ standing }: { standing: FactState }) {
  return <Status tone={TONES[standing]}>{text.operator[standing]}</Status>;
}

/** A part of the installation with its name, state and facts. */
export function FactCard({
  title,
  subtitle,
  standing,
  children,
}: {
  title: string;
  subtitle?: ReactNode;
  standing: FactState;
  children: ReactNode;
}) {
  return (
    <Paper withBorder p="md">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          {title}
        </Title>
        <StateBadge standing={standing} />
      </Group>
      {subtitle && (
        <Text size="sm" c="dimmed" mb="xs">
          {subtitle}
        </Text>
      )}
      {children}
    </Paper>
  );
}

/** A list of names and values. Values that need attention stand out. */
export function Facts({ of }: { of: { name: string; value: ReactNode; means?: string; look?: boolean }[] }) {
  return (
    <Table variant="vertical" layout="fixed" withRowBorders={false} verticalSpacing={4} horizontalSpacing={0}>
      <Table.Tbody>
        {of.map(({ name, value, means, look }) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" fw={400} bg="transparent" c="dimmed">
              <Explained means={means}>{name}</Explained>
            </Table.Th>
            <Table.Td ta="right" fw={look ? 650 : 400} c={look ? WARNING : undefined}>
              {value}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/** A word whose meaning is shown on hover and focus. */
export function Explained({ means, children }: { means?: string | undefined; children: ReactNode }) {
  if (!means) return <>{children}</>;
  return (
    <Tooltip label={means} multiline maw={280} events={TOUCHED}>
      <Text span inherit tabIndex={0} td="underline dotted" style={{ textUnderlineOffset: '0.2em' }}>
        {children}
      </Text>
    </Tooltip>
  );
}
