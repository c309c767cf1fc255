import { deriveKey, maskSecret, openSecret, sealSecret } from '../domain/secrets.ts';

/**
 * A webhook step's header values are secrets (they hold tokens): sealed in the database, opened only by the activity that sends them,
 * masked in answers (decisions §2). The step's id is the context, so a value opens for its own step alone.
 */
type Config = Record<string, unknown>;

const contextOf = (stepId: string, name: string): string => `workflow_steps.headers:${stepId}:${name.toLowerCase()}`;

/** The config as it is stored. A masked value that comes back from a client keeps what `current` has. */
export function sealStepConfig(secretKey: string, stepId: string, config: Config, current?: Config): Config {
  const key = deriveKey(secretKey, 'at-rest');
  const before = headersOf(current);
  return mapHeaders(config, (name, value) => {
    const old = before[name];
    if (old !== undefined && value === maskSecret(openSecret(key, contextOf(stepId, name), old))) return old;
    return sealSecret(key, contextOf(stepId, name), value);
  });
}

/** The config as the step uses it. */
export function openStepConfig(secretKey: string, stepId: string, config: Config): Config {
  const key = deriveKey(secretKey, 'at-rest');
  return mapHeaders(config, (name, value) => openSecret(key, contextOf(stepId, name), value));
}

/** The config as an answer shows it. */
export function maskStepConfig(secretKey: string, stepId: string, config: Config): Config {
  return mapHeaders(openStepConfig(secretKey, stepId, config), (_, value) => maskSecret(value));
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
