import { maskUrl, sameOrigin } from '../access/url-secrets.ts';
import type { SecretField, StepConfig } from '../executions/steps/definition.ts';

/** What a file says of a field that holds secrets, in a config with its secrets in clear. */
interface Filed {
  /** The value as a file has it. */
  withoutSecret(value: unknown): unknown;
  /** The value that a file means, undefined where there is none; `missing` names what is not stored. */
  meant(given: StepConfig, stored: StepConfig | undefined): { value: unknown; missing: string[] };
}

const FILED: Record<SecretField, Filed> = {
  /** Without its password. */
  url: {
    withoutSecret: (url) => (typeof url === 'string' ? maskUrl(url) : url),
    meant: meantUrl,
  },
  /** Names without their values. */
  headers: {
    withoutSecret: (headers) => (isRecord(headers) ? mapValues(headers, () => null) : headers),
    meant: meantHeaders,
  },
};

const MASKED_CREDENTIALS = /^(\s*https?:\/\/)[^/?#]*\*\*\*@/i;

/** The config as a file has it: what is secret in these fields is left out. */
export function withoutSecrets(config: StepConfig, secretsIn: readonly SecretField[]): StepConfig {
  const filed = secretsIn.map((field): [string, unknown] => [field, FILED[field].withoutSecret(config[field])]);
  return withValues(config, filed);
}

/**
 * The config that a file means: what it leaves out as a secret is what is stored, for the same scheme, host and port
 * only, else whoever may change the address, but not read the secret, could have it sent to a host of their own.
 * `missing` names what is not stored, which is left out.
 */
export function withStoredSecrets(
  given: StepConfig,
  p: { stored: StepConfig | undefined; secretsIn: readonly SecretField[] },
): { config: StepConfig; missing: string[] } {
  const meant = p.secretsIn.map((field) => ({ field, ...FILED[field].meant(given, p.stored) }));
  const values = meant.map(({ field, value }): [string, unknown] => [field, value]);
  return { config: withValues(given, values), missing: meant.flatMap(({ missing }) => missing) };
}

function meantUrl(given: StepConfig, stored: StepConfig | undefined): { value: unknown; missing: string[] } {
  const url = urlOf(given);
  if (!MASKED_CREDENTIALS.test(url)) return { value: given.url, missing: [] };
  if (stored !== undefined && maskUrl(urlOf(stored)) === url) return { value: stored.url, missing: [] };
  return { value: url.replace(MASKED_CREDENTIALS, '$1'), missing: maskUrl(url) === url ? ['url'] : [] };
}

function meantHeaders(given: StepConfig, stored: StepConfig | undefined): { value: unknown; missing: string[] } {
  const kept = stored && sameOrigin(urlOf(stored), urlOf(given)) ? stored : undefined;
  if (given.headers === undefined || given.headers === null) return { value: orNone(headersOf(kept)), missing: [] };
  const missing: string[] = [];
  const headers = Object.entries(headersOf(given)).flatMap(([name, value]) => {
    if (value !== null) return [[name, value]];
    const known = storedHeader(kept, name);
    if (known === undefined) missing.push(`headers.${name}`);
    return known === undefined ? [] : [[name, known]];
  });
  return { value: orNone(Object.fromEntries(headers)), missing };
}

function storedHeader(stored: StepConfig | undefined, name: string): unknown {
  const found = Object.entries(headersOf(stored)).find(([known]) => known.toLowerCase() === name.toLowerCase());
  return found?.[1];
}

/** The config with these values; undefined takes a field away. */
function withValues(config: StepConfig, values: [string, unknown][]): StepConfig {
  const entries = Object.entries({ ...config, ...Object.fromEntries(values) });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function urlOf({ url }: StepConfig): string {
  return typeof url === 'string' ? url : '';
}

function headersOf(config: StepConfig | undefined): Record<string, unknown> {
  return isRecord(config?.headers) ? config.headers : {};
}

function orNone(headers: Record<string, unknown>): Record<string, unknown> | undefined {
  return Object.keys(headers).length > 0 ? headers : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function mapValues(record: Record<string, unknown>, change: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
