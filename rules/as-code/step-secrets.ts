import { hasSameOrigin, maskUrl } from '../access/url-secrets.ts';
import type { SecretField, StepConfig } from '../executions/steps/definition.ts';

/** How a file represents a field with secrets. `StepConfig` contains the secrets in clear text. */
interface FieldInFile {
  /** Returns the value for a file: the stored value without its secrets. */
  withoutSecret(value: unknown): unknown;
  /** Returns the value to store for the value in a file. See `addStoredSecrets` for `missing`. */
  resolve(fileConfig: StepConfig, stored: StepConfig | undefined): { value: unknown; missing: string[] };
}

const FIELDS_IN_FILES: Record<SecretField, FieldInFile> = {
  /** In a file, the URL has `***` instead of its password or token. */
  url: {
    withoutSecret: (url) => (typeof url === 'string' ? maskUrl(url) : url),
    resolve: resolveUrl,
  },
  /** In a file, each header has its name and the value null. */
  headers: {
    withoutSecret: (headers) => (isRecord(headers) ? mapValues(headers, () => null) : headers),
    resolve: resolveHeaders,
  },
};

const MASKED_CREDENTIALS = /^(\s*https?:\/\/)[^/?#]*\*\*\*@/i;

/** Returns the config for a file, without the secrets in these fields. */
export function removeSecrets(config: StepConfig, secretsIn: readonly SecretField[]): StepConfig {
  const shown = secretsIn.map((field): [string, unknown] => [
    field,
    FIELDS_IN_FILES[field].withoutSecret(config[field]),
  ]);
  return setConfigValues(config, shown);
}

/**
 * Returns the config to store for a config from a file. Secrets that the file omits are copied from the stored config:
 * the secret of a URL if the rest of the URL is the same, and the values of headers if the scheme, host and port are
 * the same. Without these conditions, a user who may change the address, but not read the secret, could have the secret
 * sent to a host of their own. `missing` names the secrets that could not be copied: the secrets that the file masks
 * (`***` or null), and all stored headers if the file has no `headers` at all. Empty `headers` remove the stored
 * headers.
 */
export function addStoredSecrets(
  fileConfig: StepConfig,
  p: { stored: StepConfig | undefined; secretsIn: readonly SecretField[] },
): { config: StepConfig; missing: string[] } {
  const resolved = p.secretsIn.map((field) => ({ field, ...FIELDS_IN_FILES[field].resolve(fileConfig, p.stored) }));
  const values = resolved.map(({ field, value }): [string, unknown] => [field, value]);
  return { config: setConfigValues(fileConfig, values), missing: resolved.flatMap(({ missing }) => missing) };
}

function resolveUrl(fileConfig: StepConfig, stored: StepConfig | undefined): { value: unknown; missing: string[] } {
  const url = readUrl(fileConfig);
  if (!MASKED_CREDENTIALS.test(url)) return { value: fileConfig.url, missing: [] };
  if (stored !== undefined && maskUrl(readUrl(stored)) === url) return { value: stored.url, missing: [] };
  return { value: url.replace(MASKED_CREDENTIALS, '$1'), missing: maskUrl(url) === url ? ['url'] : [] };
}

function resolveHeaders(fileConfig: StepConfig, stored: StepConfig | undefined): { value: unknown; missing: string[] } {
  const usable = stored && hasSameOrigin(readUrl(stored), readUrl(fileConfig)) ? stored : undefined;
  if (fileConfig.headers === undefined || fileConfig.headers === null) {
    const lost = usable ? [] : Object.keys(readHeaders(stored)).map((name) => `headers.${name}`);
    return { value: undefinedIfEmpty(readHeaders(usable)), missing: lost };
  }
  const missing: string[] = [];
  const headers = Object.entries(readHeaders(fileConfig)).flatMap(([name, value]) => {
    if (value !== null) return [[name, value]];
    const storedValue = findStoredHeader(usable, name);
    if (storedValue === undefined) missing.push(`headers.${name}`);
    return storedValue === undefined ? [] : [[name, storedValue]];
  });
  return { value: undefinedIfEmpty(Object.fromEntries(headers)), missing };
}

function findStoredHeader(stored: StepConfig | undefined, name: string): unknown {
  const found = Object.entries(readHeaders(stored)).find(
    ([storedName]) => storedName.toLowerCase() === name.toLowerCase(),
  );
  return found?.[1];
}

/** Returns the config with these values. A field whose value is undefined is removed. */
function setConfigValues(config: StepConfig, values: [string, unknown][]): StepConfig {
  const entries = Object.entries({ ...config, ...Object.fromEntries(values) });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function readUrl({ url }: StepConfig): string {
  return typeof url === 'string' ? url : '';
}

function readHeaders(config: StepConfig | undefined): Record<string, unknown> {
  return isRecord(config?.headers) ? config.headers : {};
}

function undefinedIfEmpty(headers: Record<string, unknown>): Record<string, unknown> | undefined {
  return Object.keys(headers).length > 0 ? headers : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function mapValues(record: Record<string, unknown>, change: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
