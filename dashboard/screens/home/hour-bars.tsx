import { Box, Group, Text } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { text } from '../../text/text.ts';

type Hour = ResponseOf<'listUpcomingHours'>['hours'][number];

const HEIGHT = 90;
/** Height of a campaign's mark, above the bars. */
const MARK = 10;
const HOUR = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' });

/**
 * One bar per hour, as high as the number of delays that end in that hour, with a mark if campaigns start. The
 * numbers are shown on hover, and the list below names the campaigns.
 */
export function HourBars({ hours }: { hours: Hour[] }) {
  const most = Math.max(1, ...hours.map(({ delays }) => delays));
  const first = hours[0];
  const last = hours.at(-1);
  return (
    <Box>
      <svg
        viewBox={`0 0 ${hours.length * 10} ${HEIGHT + MARK}`}
        preserveAspectRatio="none"
        width="100%"
        height={HEIGHT + MARK}
        role="img"
        aria-label={text.home.hoursLabel}
        style={{ display: 'block', borderBottom: '1px solid var(--mantine-color-default-border)' }}
      >
        {hours.map((hour, index) => (
          <Bar key={hour.at} hour={hour} index={index} most={most} />
        ))}
      </svg>
      <Group justify="space-between">
        {[first, last].map(
          (hour) =>
            hour && (
              <Text key={hour.at} size="xs" c="dimmed">
                {HOUR.format(new Date(hour.at))}
              </Text>
            ),
        )}
      </Group>
    </Box>
  );
}

function Bar({ hour: { at, delays, campaigns }, index, most }: { hour: Hour; index: number; most: number }) {
  const height = delays === 0 ? 0 : Math.max(2, (HEIGHT * delays) / most);
  return (
    <g>
      <title>{text.home.hourHas(HOUR.format(new Date(at)), formatCount(delays), campaigns)}</title>
      {/* The transparent bar makes the whole column react to hover. */}
      <rect x={index * 10} y={0} width={10} height={HEIGHT + MARK} fill="transparent" />
      <rect
        x={index * 10 + 1.5}
        y={HEIGHT + MARK - height}
        width={7}
        height={height}
        fill="var(--mantine-primary-color-filled)"
      />
      {campaigns > 0 && <rect x={index * 10 + 1.5} y={0} width={7} height={6} fill="var(--mantine-color-orange-6)" />}
    </g>
  );
}
