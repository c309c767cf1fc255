import { Text } from '@mantine/core';
import { AppLink } from './app-link.tsx';

const NUMBER = new Intl.NumberFormat();
const SHARE = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** Formats a number with thousands separators in the user's locale. */
export function formatCount(n: number): string {
  return NUMBER.format(n);
}

/** Formats a share of 0 to 1 in percent; a dash if the whole is 0. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '–';
  return SHARE.format(part / whole);
}

/** A number that links to the list of what it counts, such as `/messages?status=BOUNCED`. Null means not counted. */
export function CountLink({ n, href }: { n: number | null | undefined; href: string }) {
  if (n === null || n === undefined) return <Text span>–</Text>;
  return <AppLink to={href}>{formatCount(n)}</AppLink>;
}
