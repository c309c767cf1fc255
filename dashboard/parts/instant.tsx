import { Text, Tooltip } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { text } from '../text/text.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const DAY_OF_YEAR = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/**
 * Shows an instant (ISO 8601) as a relative time, such as "5 min ago". The exact time in the viewer's zone is shown
 * on hover and read by screen readers.
 */
export function Instant({ at, none = '–' }: { at: string | null | undefined; none?: string }) {
  const now = useSyncExternalStore(everyMinute, () => Math.floor(Date.now() / MINUTE) * MINUTE);
  if (!at) return <>{none}</>;
  return (
    <Tooltip label={exactly(at)} multiline>
      <Text component="time" dateTime={at} inherit title={at} style={{ whiteSpace: 'nowrap' }}>
        {formatDistance(at, Math.max(now, Date.now()))}
      </Text>
    </Tooltip>
  );
}

const DETAIL = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});

/** Shows an instant (ISO 8601) with seconds and zone, such as "Nov 25, 10:12:06 GMT+1". Detail pages use it. */
export function ExactTime({ at, none = '–' }: { at: string | null | undefined; none?: string }) {
  if (!at) return <>{none}</>;
  return (
    <Text component="time" dateTime={at} inherit title={exactly(at)}>
      {DETAIL.format(new Date(at))}
    </Text>
  );
}

const SCHEDULE = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});

/** Shows a time that a user chose, such as "Nov 26, 09:00 GMT+1", with the distance on hover. */
export function ScheduledTime({ at }: { at: string | null | undefined }) {
  if (!at) return <>–</>;
  return (
    <Tooltip label={formatDistance(at, Date.now())}>
      <Text component="time" dateTime={at} inherit title={exactly(at)}>
        {SCHEDULE.format(new Date(at))}
      </Text>
    </Tooltip>
  );
}

/** Formats an instant as "5 min ago" or "in 2 hr"; as a date if it is more than a week away. */
export function formatDistance(at: string, nowMs: number): string {
  const distance = Date.parse(at) - nowMs;
  const size = Math.abs(distance);
  if (size < 45 * SECOND) return text.parts.justNow;
  if (size < 45 * MINUTE) return relative(distance / MINUTE, 'minute');
  if (size < 22 * HOUR) return relative(distance / HOUR, 'hour');
  if (size < 7 * DAY) return relative(distance / DAY, 'day');
  const isThisYear = new Date(at).getFullYear() === new Date(nowMs).getFullYear();
  return (isThisYear ? DAY_OF_YEAR : DATE).format(new Date(at));
}

/** Formats a distance without the dot of an abbreviation: "2 min ago". */
function relative(distance: number, unit: 'minute' | 'hour' | 'day'): string {
  return RELATIVE.format(Math.round(distance), unit).replace('.', '');
}

/** Formats an instant with seconds and time zone. */
export function exactly(at: string): string {
  return EXACT.format(new Date(at));
}

function everyMinute(changed: () => void): () => void {
  const timer = setInterval(changed, MINUTE);
  return () => clearInterval(timer);
}
