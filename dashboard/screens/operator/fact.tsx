import { Box, Table, Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { CardSection } from '../../parts/card-section.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import type { FactState } from './states.ts';

export const TONES = { healthy: 'done', attention: 'waiting', unreachable: 'failed' } as const;
/** Color of text that needs attention; readable on both backgrounds. */
export const WARNING = 'var(--mantine-color-orange-light-color)';
const TOOLTIP_EVENTS = { hover: true, focus: true, touch: true };
const DOTTED = {
  textDecorationColor: 'var(--color-border-control)',
  textDecorationThickness: 1,
  textUnderlineOffset: '0.25em',
};

/** Shows a state as a dot and a word. */
export function StateBadge({ state }: { state: FactState }) {
  return <Status tone={TONES[state]}>{text.operator[state]}</Status>;
}

/** A part of the installation with its name, state and facts. */
export function FactCard({
  state,
  ...card
}: {
  title: string;
  subtitle?: ReactNode;
  state: FactState;
  children: ReactNode;
}) {
  return (
    <CardSection
      {...card}
      aside={
        <Box flex="none">
          <StateBadge state={state} />
        </Box>
      }
    />
  );
}

/** A table in a card: the text of its cells starts at the same edge as the title. */
export function CardTable({
  label,
  minWidth = 320,
  children,
}: {
  label: string;
  minWidth?: number;
  children: ReactNode;
}) {
  return (
    <Table.ScrollContainer minWidth={minWidth} type="native" px="xs" pb={4}>
      <Table aria-label={label}>{children}</Table>
    </Table.ScrollContainer>
  );
}

/** Numbers side by side, with hairlines between them. Numbers that need attention stand out. */
export function Figures({
  of,
}: {
  of: {
    name: string;
    value: ReactNode;
    unit?: string | undefined;
    detail?: string;
    means?: string;
    isWarning?: boolean;
  }[];
}) {
  return (
    <div className="stats">
      {of.map(({ name, value, unit, detail, means, isWarning }) => (
        <div key={name}>
          <Text size="xs" fw={500} c="dimmed">
            <Explained means={means}>{name}</Explained>
          </Text>
          <div className="stats-figure" style={isWarning ? { color: WARNING } : undefined}>
            {value}
            {unit && <span className="stats-unit"> {unit}</span>}
          </div>
          {detail !== undefined && (
            <Text size="xs" c="dimmed" mih={18}>
              {detail}
            </Text>
          )}
        </div>
      ))}
    </div>
  );
}

/** A word whose meaning is shown on hover and focus. */
export function Explained({ means, children }: { means?: string | undefined; children: ReactNode }) {
  if (!means) return <>{children}</>;
  return (
    <Tooltip label={means} multiline maw={280} events={TOOLTIP_EVENTS}>
      <Text span inherit tabIndex={0} td="underline dotted" style={DOTTED}>
        {children}
      </Text>
    </Tooltip>
  );
}
