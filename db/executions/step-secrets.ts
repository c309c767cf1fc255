import { deriveKey, isMask, maskSecret, openSecret, sealSecret } from '../../rules/access/secrets.ts';
import { maskUrl, openUrl, type StoredUrl, sameOrigin, sealUrl } from '../../rules/access/url-secrets.ts';
import { AppError, type FieldError } from '../../rules/errors.ts';

/**
 * A webhook step's header values and the password in its URL are secrets: sealed in the database, opened only by the
 * activity that sends them, masked in answers. The step's id is the context, so a value opens for its own step alone. A
 * sealed password is the config's `urlSecret`, which no caller sees or sets.
 */
type Config = Record<string, unknown>;

const contextOf = (stepId: string, name: string): string => `workflow_steps.headers:${stepId}:${name.toLowerCase()}`;
const urlContextOf = (stepId: string): string => `workflow_steps.url:${stepId}`;

/**
 * The config as it is stored. A masked value that comes back from a client keeps what `current` has, for the same
 * origin only: else whoever may change the address, but not read the secret, could have it sent to a host of their own.
 * @throws AppError VALIDATION_ERROR for a masked password or header value that is not stored for this origin
 */
export function sealStepConfig(secretKey: string, stepId: string, config: Config, current?: Config): Config {
  const key = deriveKey(secretKey, 'at-rest');
  const kept = (name: string, value: string) => keptHeader({ key, stepId, name, value, config, current });
  const lost = Object.entries(headersOf(config)).filter(([name, value]) => isMask(value) && kept(name, value) === '');
  if (lost.length > 0) throw new AppError('VALIDATION_ERROR', { errors: lost.map(nothingKept) });
  const sealed = mapHeaders(config, (name, value) =>
    isMask(value) ? kept(name, value) : sealSecret(key, contextOf(stepId, name), value),
  );
  const url = urlOf(sealed)?.url;
  if (url === undefined) return sealed;
  const stored = sealUrl({ key, context: urlContextOf(stepId), url, current: urlOf(current), field: 'config.url' });
  return withUrl(sealed, stored);
}

/** The sealed value that a mask stands for, whatever the case of its name; empty where it stands for none. */
function keptHeader(p: {
  key: Buffer;
  stepId: string;
  name: string;
  value: string;
  config: Config;
  current: Config | undefined;
}): string {
  if (!sameOrigin(urlOf(p.current)?.url ?? '', urlOf(p.config)?.url ?? '')) return '';
  const name = p.name.toLowerCase();
  const stored = Object.entries(headersOf(p.current)).find(([known]) => known.toLowerCase() === name)?.[1] ?? '';
  const isOfIt = stored !== '' && maskSecret(openSecret(p.key, contextOf(p.stepId, name), stored)) === p.value;
  return isOfIt ? stored : '';
}

function nothingKept([name, value]: [string, string]): FieldError {
  const message = `${value} keeps a value that is stored for this header and the same scheme, host and port of the url, and there is none: write it out`;
  return { field: `config.headers.${name}`, message, code: 'custom' };
}

/** The config as the step uses it. */
export function openStepConfig(secretKey: string, stepId: string, config: Config): Config {
  const key = deriveKey(secretKey, 'at-rest');
  const opened = mapHeaders(config, (name, value) => openSecret(key, contextOf(stepId, name), value));
  const stored = urlOf(config);
  if (!stored) return opened;
  return withUrl(opened, { url: openUrl({ key, context: urlContextOf(stepId), ...stored }), sealed: null });
}

/** The config as an answer shows it. */
export function maskStepConfig(secretKey: string, stepId: string, config: Config): Config {
  const masked = mapHeaders(openStepConfig(secretKey, stepId, config), (_, value) => maskSecret(value));
  const url = urlOf(config)?.url;
  return url === undefined ? masked : withUrl(masked, { url: maskUrl(url), sealed: null });
}

function urlOf(config: Config | undefined): StoredUrl | undefined {
  if (typeof config?.url !== 'string') return undefined;
  return { url: config.url, sealed: typeof config.urlSecret === 'string' ? config.urlSecret : null };
}

function withUrl({ urlSecret: _, ...config }: Config, { url, sealed }: StoredUrl): Config {
  return { ...config, url, ...(sealed !== null && { urlSecret: sealed }) };
}

function mapHeaders(config: Config, change: (name: string, value: string) => string): Config {
  const entries = Object.entries(headersOf(config));
  if (entries.length === 0) return config;
  return { ...config, headers: Object.fromEntries(entries.map(([name, value]) => [name, change(name, value)])) };
}

function headersOf(config: Config | undefined): Record<string, string> {
  const headers = config?.headers;
  return headers && typeof headers === 'object' ? (headers as Record<string, string>) : {};
}
