import { Text, VisuallyHidden } from '@mantine/core';
import { IconArrowDownRight, IconArrowRight, IconArrowUpRight } from '@tabler/icons-react';
import { text } from '../../text/text.ts';

const ICONS = { up: IconArrowUpRight, down: IconArrowDownRight, same: IconArrowRight };
const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** Formats the size of a change, without its sign and with at most one digit after the point. */
export function formatChange(by: number): string {
  return NUMBER.format(Math.abs(by));
}

/** Returns the direction of a change; `same` if its size is formatted as 0. */
export function getDirection(by: number): keyof typeof ICONS {
  if (formatChange(by) === NUMBER.format(0)) return 'same';
  return by > 0 ? 'up' : 'down';
}

/**
 * Shows the change from the previous period, with an arrow.
 * @param p.by the difference in `unit`; its sign gives the direction
 * @param p.isGood the direction that is an improvement; without it the change has no color
 */
export function ChangeIndicator({
  by,
  unit,
  isGood,
}: {
  by: number;
  unit: 'points' | 'percent';
  isGood?: 'up' | 'down';
}) {
  const written = formatChange(by);
  const direction = getDirection(by);
  const Icon = ICONS[direction];
  const label = `${text.home.change[direction]} ${text.home.changed[unit](written)}`;
  // A row of zeros with arrows would hide the numbers that did change.
  if (direction === 'same') return <VisuallyHidden>{label}</VisuallyHidden>;
  const color =
    isGood === undefined ? undefined : `var(${direction === isGood ? '--color-done-text' : '--color-failed-text'})`;
  return (
    <Text span size="xs" c={color} style={{ display: 'inline-flex', alignItems: 'center', gap: 2 }} title={label}>
      <Icon size={13} aria-hidden />
      <span aria-hidden>{unit === 'percent' ? `${written}%` : written}</span>
      <VisuallyHidden>{label}</VisuallyHidden>
    </Text>
  );
}
