import { maskUrl, sameOrigin } from '../access/url-secrets.ts';

/** A config of a WEBHOOK step with its secrets in clear. */
type Config = Record<string, unknown>;

const MASKED_CREDENTIALS = /^(\s*https?:\/\/)[^/?#]*\*\*\*@/i;

/** The config as a file has it: the names of its headers without their values, the URL without its password. */
export function withoutSecrets(config: Config): Config {
  const names = Object.keys(headersOf(config));
  return {
    ...config,
    ...(typeof config.url === 'string' && { url: maskUrl(config.url) }),
    ...(names.length > 0 && { headers: Object.fromEntries(names.map((name) => [name, null])) }),
  };
}

/**
 * The config that a file means: what it leaves out as a secret is what is stored, for the same scheme, host and port
 * only, else whoever may change the address, but not read the secret, could have it sent to a host of their own.
 * `missing` names what is not stored, which is left out.
 */
export function withStoredSecrets(given: Config, stored: Config | undefined): { config: Config; missing: string[] } {
  const missing: string[] = [];
  const config = { ...given };
  const kept = stored && sameOrigin(urlOf(stored), urlOf(given)) ? stored : undefined;
  if (MASKED_CREDENTIALS.test(urlOf(given))) {
    const same = stored !== undefined && maskUrl(urlOf(stored)) === urlOf(given);
    config.url = same ? stored.url : urlOf(given).replace(MASKED_CREDENTIALS, '$1');
    if (!same && maskUrl(urlOf(given)) === urlOf(given)) missing.push('url');
  }
  if (given.headers === undefined || given.headers === null) {
    const headers = kept ? headersOf(kept) : {};
    delete config.headers;
    return { config: Object.keys(headers).length > 0 ? { ...config, headers } : config, missing };
  }
  const headers = Object.entries(headersOf(given)).flatMap(([name, value]) => {
    if (value !== null) return [[name, value]];
    const known = storedHeader(kept, name);
    if (known === undefined) missing.push(`headers.${name}`);
    return known === undefined ? [] : [[name, known]];
  });
  if (headers.length > 0) config.headers = Object.fromEntries(headers);
  else delete config.headers;
  return { config, missing };
}

function storedHeader(stored: Config | undefined, name: string): unknown {
  const found = Object.entries(stored ? headersOf(stored) : {}).find(
    ([known]) => known.toLowerCase() === name.toLowerCase(),
  );
  return found?.[1];
}

function urlOf({ url }: Config): string {
  return typeof url === 'string' ? url : '';
}

function headersOf({ headers }: Config): Record<string, unknown> {
  return typeof headers === 'object' && headers !== null ? (headers as Record<string, unknown>) : {};
}
