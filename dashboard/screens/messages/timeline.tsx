import { Group, Text, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import { formatExactTime, getZoneName } from '../../parts/instant.tsx';
import classes from '../../parts/timeline.module.css';
import { text } from '../../text/text.ts';

/** An entry of a timeline: its name, its instant (ISO 8601), and a line of details. */
export interface TimelineEntry {
  name: string;
  /** Undefined if the time of the end of a message was not stored. Such an entry is shown as the newest. */
  at?: string;
  tone?: 'done' | 'accent' | 'failed' | undefined;
  detail?: ReactNode;
}

const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const TIME = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** Shows the history of a message, newest first, to the second. The header names the day and the zone once. */
export function Timeline({ entries }: { entries: TimelineEntry[] }) {
  const id = useId();
  const first = entries[0]?.at;
  if (first === undefined) return null;
  const day = DAY.format(new Date(first));
  const timeIn = ({ at }: TimelineEntry) => (at === undefined ? Number.POSITIVE_INFINITY : Date.parse(at));
  const newestFirst = entries.toSorted((a, b) => timeIn(a) - timeIn(b)).reverse();
  return (
    <section aria-labelledby={id}>
      <Group justify="space-between" mb="sm" wrap="nowrap">
        <Title order={2} size="h5" id={id}>
          {text.messages.timeline}
        </Title>
        <Text size="xs" c="dimmed">
          {day}, {getZoneName(new Date(first))}
        </Text>
      </Group>
      <ol className={classes.timeline}>
        {newestFirst.map(({ name, at, tone, detail }) => (
          <li key={name} data-tone={tone}>
            <span className={classes.name}>{name}</span>
            {at === undefined ? (
              <span className={classes.noTime}>{text.messages.noTime}</span>
            ) : (
              <time dateTime={at} title={formatExactTime(at)}>
                {formatTimeOfDay(at, day)}
              </time>
            )}
            {detail && <div className={classes.detail}>{detail}</div>}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Formats the time of day with seconds, and with the day if it differs from the day in the header. */
function formatTimeOfDay(at: string, headerDay: string): string {
  const date = new Date(at);
  const day = DAY.format(date);
  return day === headerDay ? TIME.format(date) : `${day}, ${TIME.format(date)}`;
}
