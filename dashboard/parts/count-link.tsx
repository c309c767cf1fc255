import { Text } from '@mantine/core';
import { AppLink } from './app-link.tsx';

const NUMBER = new Intl.NumberFormat();
const SHARE = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** Formats a number with thousands separators in the user's locale. */
export function formatCount(n: number): string {
  return NUMBER.format(n);
}

const SMALL_SHARE = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 2 });
/** Below this share (0.1 %), two digits after the point are shown, because one digit could show 0 %. */
const SMALL = 0.001;

/** Formats a part as a percentage of the whole; a dash if the whole is 0. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '–';
  const share = part / whole;
  return (share > 0 && share < SMALL ? SMALL_SHARE : SHARE).format(share);
}

/** Shows a part as a percentage of the whole, with a smaller percent sign. */
export function ShareFigure({ part, whole }: { part: number; whole: number }) {
  const shareText = formatShare(part, whole);
  if (!shareText.endsWith('%')) return <>{shareText}</>;
  return (
    <>
      {shareText.slice(0, -1).trimEnd()}
      <span className="stats-unit">%</span>
    </>
  );
}

/** A number that links to the list of what it counts, such as `/messages?status=BOUNCED`. Null means not counted. */
export function CountLink({ n, href }: { n: number | null | undefined; href: string }) {
  if (n === null || n === undefined) return <Text span>–</Text>;
  return <AppLink to={href}>{formatCount(n)}</AppLink>;
}
