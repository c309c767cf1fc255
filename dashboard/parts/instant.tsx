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
 * Shows an instant (ISO 8601) as a relative time, such as "5 min ago", and as a date if it is more than a week away.
 * The exact time in the viewer's zone is shown on hover.
 */
export function Instant({ at, none = '–' }: { at: string | null | undefined; none?: string }) {
  const now = useSyncExternalStore(callEveryMinute, () => Math.floor(Date.now() / MINUTE) * MINUTE);
  if (!at) return <>{none}</>;
  return (
    <Tooltip label={formatExactTime(at)} multiline>
      <Text component="time" dateTime={at} inherit style={{ whiteSpace: 'nowrap' }}>
        {formatDistance(at, Math.max(now, Date.now()))}
      </Text>
    </Tooltip>
  );
}

const DETAIL: Intl.DateTimeFormatOptions = {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
};
const { second: _, ...SCHEDULE } = DETAIL;
const DETAIL_FORMAT = new Intl.DateTimeFormat(undefined, DETAIL);
const OTHER_YEAR_FORMAT = new Intl.DateTimeFormat(undefined, { ...DETAIL, year: 'numeric' });
const SCHEDULE_FORMAT = new Intl.DateTimeFormat(undefined, SCHEDULE);

/** Shows an instant (ISO 8601) with seconds and zone, such as "Nov 25, 10:12:06 CET". Detail pages use it. */
export function ExactTime({ at, none = '–' }: { at: string | null | undefined; none?: string }) {
  if (!at) return <>{none}</>;
  return (
    <Text component="time" dateTime={at} inherit title={formatExactTime(at)}>
      {formatDetail(new Date(at), new Date())}
    </Text>
  );
}

/** Formats an instant with seconds and zone, and with the year unless it is the year of `now`. */
export function formatDetail(at: Date, now: Date): string {
  const format = at.getFullYear() === now.getFullYear() ? DETAIL_FORMAT : OTHER_YEAR_FORMAT;
  return `${format.format(at)} ${getZoneName(at)}`;
}

/** Shows an instant without seconds and zone, for narrow places; both are shown on hover. */
export function ShortTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatExactTime(at)}>
      {SCHEDULE_FORMAT.format(new Date(at))}
    </time>
  );
}

/**
 * Formats with the short names of time zones. A locale has names such as "CET" only for its part of the world; for
 * other zones it has offsets such as "GMT+1". Together, these locales have names for most of the world.
 */
const ZONE_FORMATS = [undefined, 'en-GB', 'en-US', 'en-AU', 'en-IN', 'en-ZA'].map(
  (locale) => new Intl.DateTimeFormat(locale, { timeZoneName: 'short' }),
);

/** Returns the name of the viewer's zone at an instant, such as "CET", or as an offset, such as "GMT+1". */
export function getZoneName(at: Date): string {
  const names = ZONE_FORMATS.map(
    (format) => format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '',
  );
  return names.find((name) => /^[A-Z]{2,5}$/.test(name)) ?? names[0] ?? '';
}

/** Shows an instant without seconds, such as "Nov 26, 09:00 CET", with the relative time on hover. */
export function ScheduledTime({ at }: { at: string | null | undefined }) {
  if (!at) return <>–</>;
  return (
    <Tooltip label={formatDistance(at, Date.now())}>
      <Text component="time" dateTime={at} inherit title={formatExactTime(at)}>
        {SCHEDULE_FORMAT.format(new Date(at))} {getZoneName(new Date(at))}
      </Text>
    </Tooltip>
  );
}

/** Formats an instant as "5 min ago" or "in 2 hr"; as a date if it is more than a week away. */
export function formatDistance(at: string, nowMs: number): string {
  const distance = Date.parse(at) - nowMs;
  const size = Math.abs(distance);
  if (size < 45 * SECOND) return text.parts.justNow;
  if (size < 45 * MINUTE) return formatRelative(distance / MINUTE, 'minute');
  if (size < 22 * HOUR) return formatRelative(distance / HOUR, 'hour');
  if (size < 7 * DAY) return formatRelative(distance / DAY, 'day');
  const isThisYear = new Date(at).getFullYear() === new Date(nowMs).getFullYear();
  return (isThisYear ? DAY_OF_YEAR : DATE).format(new Date(at));
}

/** Formats a relative time without the dot of an abbreviation: "2 min ago". */
function formatRelative(distance: number, unit: 'minute' | 'hour' | 'day'): string {
  return RELATIVE.format(Math.round(distance), unit).replace('.', '');
}

/** Formats an instant with seconds and time zone. */
export function formatExactTime(at: string): string {
  return EXACT.format(new Date(at));
}

function callEveryMinute(changed: () => void): () => void {
  const timer = setInterval(changed, MINUTE);
  return () => clearInterval(timer);
}
