import { isIP } from 'node:net';
import { z } from 'zod';

// Schemas that convert the text of an environment variable to its value. An empty variable counts as unset, so the text
// is empty only if it is the default of a list.

const SWITCH_WORDS: Record<string, boolean> = {
  on: true,
  true: true,
  yes: true,
  '1': true,
  off: false,
  false: false,
  no: false,
  '0': false,
};

/** Any text. */
export const text = z.string();
/** A switch: `on`, `true`, `yes` or `1`, or the opposite words. */
export const switchWord = z
  .string()
  .transform((value) => SWITCH_WORDS[value.toLowerCase()])
  .pipe(z.boolean());
/** A whole number from `min` to `max`. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/)
    .transform(Number)
    .pipe(z.number().int().min(min).max(max));
const port = wholeNumber(1, 65_535);
/** A port, or `off`, which becomes undefined. */
export const optionalPort = z.union([z.literal('off').transform(() => undefined), port]);
/** A URL with one of the given schemes. */
export const url = (...schemes: string[]) =>
  z.string().refine((value) => URL.canParse(value) && schemes.includes(new URL(value).protocol.slice(0, -1)));
/** An http or https URL. Slashes at its end are removed. */
export const httpUrl = url('http', 'https').transform((value) => value.replace(/\/+$/, ''));
/** A host and its port. */
export const hostPort = z.string().refine((value) => /^(\[[0-9a-f:]+\]|[^\s:/]+):\d{1,5}$/i.test(value));
/** An IP address or the name of a host. */
export const host = z.string().refine((value) => isIP(value) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(value));
/** A comma-separated list of items. An empty text is an empty list. */
export const list = <Item extends string>(item: z.ZodType<Item, string>) =>
  z
    .string()
    .transform((value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )
    .pipe(z.array(item));
/** An IP address with an optional port. */
export const dnsServer = z.string().refine((value) => {
  const [, address, portText] = /^(\[[^\]]+\]|[^:]+|[0-9a-f:]+?)(?::(\d{1,5}))?$/i.exec(value) ?? [];
  const bare = address?.replace(/^\[|\]$/g, '') ?? '';
  return isIP(value) !== 0 || (isIP(bare) !== 0 && (portText === undefined || Number(portText) <= 65_535));
});
/** An origin in the form of a browser's `Origin` header. */
export const origin = z
  .string()
  .refine((value) => URL.canParse(value) && new URL(value).origin === value.replace(/\/$/, ''))
  .transform((value) => new URL(value).origin);
