import { Box, Group, Text, useComputedColorScheme } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import type UPlotClass from 'uplot';
import 'uplot/dist/uPlot.min.css';

export interface Series {
  label: string;
  /** A token of the theme, such as `--chart-1`, or a color. */
  color: string;
  /** Null if an instant has no value. */
  values: (number | null)[];
  /** Draws bars of this share of the space instead of a line: 0 to 1. */
  bars?: number;
  /** The values are percentages, with their own axis on the right. */
  isPercent?: boolean;
}

const MAX_BAR_PX = 28;
/** The possible distances between grid lines: whole numbers on an axis of counts, and steps of an axis in percent. */
const COUNT_STEPS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].flatMap((power) => [power, 2 * power, 5 * power]);
const PERCENT_STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 25, 50, 100];
/** The maximum number of grid lines above zero. */
const LINES = 3;
/** Distance of a label from its axis, and the width of a digit at 11 px. */
const AXIS_GAP_PX = 10;
const DIGIT_PX = 7;
/** Space right of the last bar for half of its label. */
const RIGHT_PX = 8;
/** Distance of the tooltip from the pointer. */
const TOOLTIP_PX = 12;

const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const WEEKDAY = new Intl.DateTimeFormat(undefined, { weekday: 'short', month: 'short', day: 'numeric' });
const HOUR = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** Labels an instant on the time axis: midnight by its date, any other hour by its time. */
function formatAxisLabel(atSeconds: number): string {
  const at = new Date(atSeconds * 1_000);
  return (at.getHours() === 0 ? DAY : HOUR).format(at);
}

/** Formats the hovered instant as the title of the tooltip: a day, or a day and an hour. */
function formatTooltipTitle(atSeconds: number): string {
  const at = new Date(atSeconds * 1_000);
  return at.getHours() === 0 ? WEEKDAY.format(at) : `${DAY.format(at)}, ${HOUR.format(at)}`;
}

/**
 * Lines and bars over time, drawn by uPlot, which is loaded with the first chart. The values are shown on hover.
 * Screen readers get the numbers from a table elsewhere on the screen; the drawing has only a `label`.
 * @param p.atSeconds instants, in seconds since 1970, as many as values
 * @param p.aside shown beside the legend
 */
export function TimeSeries({
  atSeconds,
  series,
  height = 220,
  label,
  aside,
}: {
  atSeconds: number[];
  series: Series[];
  height?: number;
  label: string;
  aside?: ReactNode;
}) {
  const container = useRef<HTMLDivElement>(null);
  const tooltip = useRef<HTMLDivElement>(null);
  // The scheme that is shown, which may follow the system.
  const colorScheme = useComputedColorScheme('light', { getInitialValueInEffect: false });
  // biome-ignore lint/correctness/useExhaustiveDependencies: redrawn in the other colors
  useEffect(() => {
    const div = container.current;
    if (!div) return;
    let isUnmounted = false;
    let end = () => {};
    void import('uplot').then(({ default: UPlot }) => {
      if (isUnmounted) return;
      const plot = new UPlot(
        createChartOptions({ UPlot, div, tooltip: tooltip.current, series, height }),
        [atSeconds, ...series.map(({ values }) => values)],
        div,
      );
      const watch = new ResizeObserver(() => plot.setSize({ width: div.clientWidth, height }));
      watch.observe(div);
      end = () => {
        watch.disconnect();
        plot.destroy();
      };
    });
    return () => {
      isUnmounted = true;
      end();
    };
  }, [atSeconds, series, height, colorScheme]);
  return (
    <div>
      <Group gap="4px 16px" mb="xs" mih={20}>
        {series.map(({ label: name, color, bars }) => (
          <Group key={name} gap={6} wrap="nowrap">
            <Box
              w={bars === undefined ? 12 : 8}
              h={bars === undefined ? 2 : 8}
              bg={color.startsWith('--') ? `var(${color})` : color}
              style={{ borderRadius: 2, flex: 'none' }}
              aria-hidden
            />
            <Text size="xs" c="dimmed">
              {name}
            </Text>
          </Group>
        ))}
        {aside && <Box ml={{ sm: 'auto' }}>{aside}</Box>}
      </Group>
      <Box ref={container} mih={height} pos="relative" role="img" aria-label={label}>
        <div ref={tooltip} className="chart-tooltip" hidden />
      </Box>
    </div>
  );
}

/** Returns the drawing's options, with the colors of the current scheme. */
function createChartOptions({
  UPlot,
  div,
  tooltip,
  series,
  height,
}: {
  UPlot: typeof UPlotClass;
  div: HTMLElement;
  tooltip: HTMLElement | null;
  series: Series[];
  height: number;
}): UPlotClass.Options {
  const style = getComputedStyle(div);
  const colorOf = (color: string) => (color.startsWith('--') ? style.getPropertyValue(color) : color);
  const line = { stroke: colorOf('--chart-grid'), width: 1 };
  const axis = {
    stroke: colorOf('--color-text-secondary'),
    font: `11px ${style.fontFamily}`,
    grid: line,
    ticks: { show: false },
  };
  const hasPercent = series.some(({ isPercent }) => isPercent);
  const counts = createCountAxis(findMaximum(series.filter(({ isPercent }) => !isPercent)));
  const percents = createPercentAxis(findMaximum(series.filter(({ isPercent }) => isPercent)), counts);
  return {
    width: div.clientWidth,
    height,
    padding: [null, RIGHT_PX, null, null],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { range: (plot, min, max) => [min - getHalfStep(plot), max + getHalfStep(plot)] },
      y: { range: [0, counts.max] },
      ...(hasPercent && { percent: { range: [0, percents.max] } }),
    },
    axes: [
      {
        ...axis,
        size: 32,
        gap: 10,
        grid: { show: false },
        space: 90,
        values: (_, instants) => instants.map(formatAxisLabel),
      },
      { ...axis, size: getLabelsWidth, splits: () => listLabeledValues(counts) },
      ...(hasPercent
        ? [
            {
              ...axis,
              scale: 'percent',
              side: 1 as const,
              size: getLabelsWidth,
              splits: () => listLabeledValues(percents),
              grid: { show: false },
              values: (_: UPlotClass, splits: number[]) => splits.map((split) => `${NUMBER.format(split)}%`),
            },
          ]
        : []),
    ],
    series: [
      {},
      ...series.map(({ label, color, bars, isPercent }) => ({
        label,
        scale: isPercent ? 'percent' : 'y',
        stroke: colorOf(color),
        spanGaps: true,
        points: { show: false },
        ...(bars === undefined
          ? { width: 1.75 }
          : { width: 0, fill: colorOf(color), paths: UPlot.paths.bars?.({ size: [bars, MAX_BAR_PX], radius: 0.15 }) }),
      })),
    ],
    hooks: { setCursor: [(plot) => tooltip && showValues({ plot, tooltip, series, div })] },
  };
}

interface Axis {
  max: number;
  step: number;
}

function findMaximum(series: Series[]): number {
  return Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
}

/** Returns the axis of counts: a little higher than the highest bar, with at most three lines above zero. */
function createCountAxis(highest: number): Axis {
  const max = Math.max(1, highest * 1.05);
  return { max, step: COUNT_STEPS.find((step) => max / step < LINES + 1) ?? max };
}

/**
 * Returns the axis of percentages on the right. The labels of percentages are at the grid lines of the axis of counts.
 */
function createPercentAxis(highest: number, counts: Axis): Axis {
  const lines = counts.max / counts.step;
  const step = PERCENT_STEPS.find((one) => one * lines >= highest * 1.05) ?? highest;
  return { max: step * lines, step };
}

/** Returns the values with a label: zero, and each step up to the end of the axis. */
function listLabeledValues({ max, step }: Axis): number[] {
  return Array.from({ length: Math.floor(max / step) + 1 }, (_, n) => n * step);
}

/** Returns the width of the labels of an axis, so that the widest one starts at the edge of the chart. */
function getLabelsWidth(_: UPlotClass, labels: string[] | null): number {
  return AXIS_GAP_PX + DIGIT_PX * Math.max(1, ...(labels ?? []).map((label) => label.length));
}

/** Half of the distance between two instants: the space for the first and the last bar. */
function getHalfStep({ data: [atSeconds] }: UPlotClass): number {
  const [first, second] = atSeconds;
  return first === undefined || second === undefined ? 0 : (second - first) / 2;
}

/** Shows the values at the pointer in a tooltip, on the side of the pointer with more space. */
function showValues({
  plot,
  tooltip,
  series,
  div,
}: {
  plot: UPlotClass;
  tooltip: HTMLElement;
  series: Series[];
  div: HTMLElement;
}): void {
  const { idx, left = -1 } = plot.cursor;
  const at = idx === null || idx === undefined ? undefined : plot.data[0][idx];
  tooltip.hidden = at === undefined || left < 0;
  if (idx === null || idx === undefined || at === undefined) return;
  const title = document.createElement('b');
  title.textContent = formatTooltipTitle(at);
  const rows = series.map(({ label, values, isPercent }) => {
    const row = document.createElement('div');
    const value = values[idx];
    const valueText = typeof value !== 'number' ? '–' : `${NUMBER.format(value)}${isPercent ? '%' : ''}`;
    row.append(Object.assign(document.createElement('span'), { textContent: label }), valueText);
    return row;
  });
  tooltip.replaceChildren(title, ...rows);
  const x = left + plot.over.offsetLeft;
  const isRight = x < div.clientWidth / 2;
  tooltip.style.left = isRight ? `${x + TOOLTIP_PX}px` : '';
  tooltip.style.right = isRight ? '' : `${div.clientWidth - x + TOOLTIP_PX}px`;
}
