import { maskUrl, sameOrigin } from '../access/url-secrets.ts';
import type { SecretField, StepConfig } from '../executions/steps/definition.ts';

/** How a file represents a field with secrets, given a config with clear secrets. */
interface Filed {
  /** Returns the value that a file shows instead of the stored one, without secrets. */
  withoutSecret(value: unknown): unknown;
  /** Returns the value that a file means, or undefined. `missing` names secrets that are not stored. */
  meant(given: StepConfig, stored: StepConfig | undefined): { value: unknown; missing: string[] };
}

const FILED: Record<SecretField, Filed> = {
  /** The URL without its password. */
  url: {
    withoutSecret: (url) => (typeof url === 'string' ? maskUrl(url) : url),
    meant: meantUrl,
  },
  /** The header names without their values. */
  headers: {
    withoutSecret: (headers) => (isRecord(headers) ? mapValues(headers, () => null) : headers),
    meant: meantHeaders,
  },
};

const MASKED_CREDENTIALS = /^(\s*https?:\/\/)[^/?#]*\*\*\*@/i;

/** Returns the config as a file has it, without the secrets in these fields. */
export function withoutSecrets(config: StepConfig, secretsIn: readonly SecretField[]): StepConfig {
  const filed = secretsIn.map((field): [string, unknown] => [field, FILED[field].withoutSecret(config[field])]);
  return withValues(config, filed);
}

/**
 * Returns the config that a file means: omitted secrets are taken from storage, for the same scheme, host and port
 * only. Otherwise a user who may change the address, but not read the secret, could have the secret sent to a host of
 * their own. `missing` names secrets that are not stored, which are omitted.
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

/** Returns the config with these values; undefined removes a field. */
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
