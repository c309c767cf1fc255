import { Text } from '@mantine/core';
import { AppLink } from './app-link.tsx';

const NUMBER = new Intl.NumberFormat();
const SHARE = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** A number as people read it. */
export function formatCount(n: number): string {
  return NUMBER.format(n);
}

/** Formats a share of 0 to 1 in percent; a dash if the whole is 0. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '–';
  return SHARE.format(part / whole);
}

/**
 * A number that leads to what it counts, an address of the app such as `/messages?status=BOUNCED`; null is one that was
 * not counted.
 */
export function CountLink({ n, href }: { n: number | null | undefined; href: string }) {
  if (n === null || n === undefined) return <Text span>–</Text>;
  return <AppLink to={href}>{formatCount(n)}</AppLink>;
}
