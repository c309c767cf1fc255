import { Box, useMantineColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import 'uplot/dist/uPlot.min.css';

export interface Series {
  label: string;
  /** A token of the theme, such as `--chart-1`, or a color. */
  color: string;
  values: number[];
  /** Draws bars of this share of the space instead of a line: 0 to 1. */
  bars?: number;
}

const MAX_BAR_PX = 28;
/** Steps of the scale; counts have no halves. */
const WHOLE_NUMBERS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].flatMap((power) => [power, 2 * power, 5 * power]);

const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const HOUR = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** Names a place of the time axis: a day by its date, any other hour by its time. */
function nameInstant(atSeconds: number): string {
  const at = new Date(atSeconds * 1_000);
  return (at.getHours() === 0 ? DAY : HOUR).format(at);
}

/**
 * Lines and bars over time, drawn by uPlot, which is loaded with the first chart. Screen readers get the numbers from a table
 * elsewhere on the screen; the drawing has only a `label`.
 * @param p.atSeconds instants, in seconds since 1970, as many as values
 */
export function TimeSeries({
  atSeconds,
  series,
  height = 220,
  label,
}: {
  atSeconds: number[];
  series: Series[];
  height?: number;
  label: string;
}) {
  const place = useRef<HTMLDivElement>(null);
  const { colorScheme } = useMantineColorScheme();
  // biome-ignore lint/correctness/useExhaustiveDependencies: redrawn in the other colors
  useEffect(() => {
    const div = place.current;
    if (!div) return;
    let gone = false;
    let end = () => {};
    void import('uplot').then(({ default: UPlot }) => {
      if (gone) return;
      const style = getComputedStyle(div);
      const colorOf = (color: string) => (color.startsWith('--') ? style.getPropertyValue(color) : color);
      const line = { stroke: colorOf('--chart-grid'), width: 1 };
      const axis = {
        stroke: colorOf('--color-text-secondary'),
        font: `11px ${style.fontFamily}`,
        grid: line,
        ticks: line,
      };
      const plot = new UPlot(
        {
          width: div.clientWidth,
          height,
          scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.05)] } },
          axes: [
            { ...axis, grid: { show: false }, space: 90, values: (_, instants) => instants.map(nameInstant) },
            { ...axis, size: 48, incrs: WHOLE_NUMBERS },
          ],
          series: [
            {},
            ...series.map(({ label: name, color, bars }) => ({
              label: name,
              stroke: colorOf(color),
              points: { show: false },
              ...(bars === undefined
                ? { width: 1.75 }
                : {
                    width: 0,
                    fill: colorOf(color),
                    paths: UPlot.paths.bars?.({ size: [bars, MAX_BAR_PX], radius: 0.15 }),
                  }),
            })),
          ],
        },
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
      gone = true;
      end();
    };
  }, [atSeconds, series, height, colorScheme]);
  return <Box ref={place} mih={height} role="img" aria-label={label} />;
}
