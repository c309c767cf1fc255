import { Box, Group, Text } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { text } from '../../text/text.ts';

type Hour = ResponseOf<'listUpcomingHours'>['hours'][number];

const HEIGHT = 90;
/** Height of a campaign's mark, above the bars. */
const MARK = 10;
/** The least width of the numbers beside the bars, and their distance. */
const AXIS = 32;
const AXIS_GAP = 8;
/** Positions of the hours with a label, as shares of the chart's width. */
const LABEL_POSITIONS = [0, 0.25, 0.5, 0.75, 1];
const HOUR = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' });
const SHORT = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/**
 * One bar per hour, as high as the number of delays that end in that hour, with a mark if campaigns start. The axes
 * name the highest number and five of the hours. All numbers are shown on hover, and the list below names the
 * campaigns.
 */
export function HourBars({ hours }: { hours: Hour[] }) {
  const most = Math.max(1, ...hours.map(({ delays }) => delays));
  const labeledHours = LABEL_POSITIONS.flatMap((share) => hours[Math.round(share * (hours.length - 1))] ?? []);
  return (
    <Box>
      <Group gap={AXIS_GAP} wrap="nowrap" align="stretch">
        <Box
          pt={MARK - 6}
          miw={AXIS}
          style={{ display: 'flex', flexDirection: 'column', justifyContent: 'space-between' }}
        >
          {[most, 0].map((n) => (
            <Text key={n} fz={11} c="dimmed" ta="right" lh="12px" style={{ whiteSpace: 'nowrap' }}>
              {formatCount(n)}
            </Text>
          ))}
        </Box>
        <svg
          viewBox={`0 0 ${hours.length * 10} ${HEIGHT + MARK}`}
          preserveAspectRatio="none"
          width="100%"
          height={HEIGHT + MARK}
          role="img"
          aria-label={text.home.hoursLabel}
          style={{ display: 'block', minWidth: 0, borderBottom: '1px solid var(--color-border)' }}
        >
          {hours.map((hour, index) => (
            <Bar key={hour.at} hour={hour} index={index} most={most} />
          ))}
        </svg>
      </Group>
      <Group justify="space-between" wrap="nowrap" mt={6} ml={AXIS + AXIS_GAP}>
        {labeledHours.map(({ at }, n) => (
          // A phone shows three of the five labels.
          <Text key={at} fz={11} lh="14px" c="dimmed" visibleFrom={n % 2 === 1 ? 'sm' : undefined}>
            {SHORT.format(new Date(at))}
          </Text>
        ))}
      </Group>
    </Box>
  );
}

function Bar({ hour: { at, delays, campaigns }, index, most }: { hour: Hour; index: number; most: number }) {
  const height = delays === 0 ? 0 : Math.max(2, (HEIGHT * delays) / most);
  return (
    <g>
      <title>{text.home.hourHas(HOUR.format(new Date(at)), delays, formatCount(delays), campaigns)}</title>
      {/* The transparent bar makes the whole column react to hover. */}
      <rect x={index * 10} y={0} width={10} height={HEIGHT + MARK} fill="transparent" />
      <rect x={index * 10 + 1.5} y={HEIGHT + MARK - height} width={7} height={height} fill="var(--chart-2)" />
      {campaigns > 0 && <rect x={index * 10 + 1.5} y={0} width={7} height={6} fill="var(--chart-line)" />}
    </g>
  );
}
