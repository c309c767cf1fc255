/**
 * Handles the secrets in configs of steps, in the fields that each step type lists (`secretsIn`). Secrets are encrypted
 * in the database, decrypted only by the activity that sends them, and masked in responses. The encryption context
 * contains the step's id, so a secret can only be decrypted for its step. The encrypted password of a `url` is in the
 * field `urlSecret` of the config, which no caller can see or set.
 */
import { deriveKey, isMaskedSecret, maskSecret, sealSecret, unsealSecret } from '../../rules/access/secrets.ts';
import { hasSameOrigin, maskUrl, type StoredUrl, sealUrl, unsealUrl } from '../../rules/access/url-secrets.ts';
import { AppError, type FieldError } from '../../rules/errors.ts';
import type { SecretField, StepConfig } from '../../rules/executions/steps/definition.ts';
import { STEPS, type StepType } from '../../rules/executions/steps/registry.ts';

interface ConfiguredStep {
  id: string;
  type: StepType;
  config: StepConfig;
}

/** The key and the step for which a secret is encrypted. */
interface StoredSecretLocation {
  key: Buffer;
  stepId: string;
}

/** How to encrypt, decrypt and mask one field of a config that can have secrets. */
interface Secrets {
  /** @throws AppError VALIDATION_ERROR for a masked value if `current` has no such value for the same origin */
  seal(place: StoredSecretLocation, config: StepConfig, current: StepConfig | undefined): StepConfig;
  open(place: StoredSecretLocation, config: StepConfig): StepConfig;
  mask(place: StoredSecretLocation, config: StepConfig): StepConfig;
}

const SECRETS: Record<SecretField, Secrets> = {
  headers: {
    seal: sealHeaders,
    open: unsealHeaders,
    mask: (place, config) => mapHeaders(unsealHeaders(place, config), (_, value) => maskSecret(value)),
  },
  url: {
    seal(place, config, current) {
      const url = readUrl(config)?.url;
      if (url === undefined) return config;
      const { key } = place;
      return setUrl(
        config,
        sealUrl({ key, context: urlSecretContext(place), url, current: readUrl(current), field: 'config.url' }),
      );
    },
    open(place, config) {
      const stored = readUrl(config);
      if (!stored) return config;
      return setUrl(config, {
        url: unsealUrl({ key: place.key, context: urlSecretContext(place), ...stored }),
        sealed: null,
      });
    },
    mask(_, config) {
      const url = readUrl(config)?.url;
      return url === undefined ? config : setUrl(config, { url: maskUrl(url), sealed: null });
    },
  },
};

/**
 * Returns the config with encrypted secrets, as it is stored. If a client sends a masked value back, the value of
 * `current` is kept, but only for the same origin. Otherwise a user who may change the URL but not read the secret
 * could have the secret sent to their own host.
 * @throws AppError VALIDATION_ERROR for a masked password or header value that is not stored for this origin
 */
export function sealStepConfig(secretKey: string, step: ConfiguredStep, current?: StepConfig): StepConfig {
  return changeSecrets(secretKey, step, (secrets, place, config) => secrets.seal(place, config, current));
}

/** Returns the config with decrypted secrets, as the activity of the step uses it. */
export function unsealStepConfig(secretKey: string, step: ConfiguredStep): StepConfig {
  return changeSecrets(secretKey, step, (secrets, place, config) => secrets.open(place, config));
}

/** Returns the config with masked secrets, as responses contain it. */
export function maskStepConfig(secretKey: string, step: ConfiguredStep): StepConfig {
  return changeSecrets(secretKey, step, (secrets, place, config) => secrets.mask(place, config));
}

function changeSecrets(
  secretKey: string,
  { id: stepId, type, config }: ConfiguredStep,
  change: (secrets: Secrets, place: StoredSecretLocation, config: StepConfig) => StepConfig,
): StepConfig {
  const { secretsIn } = STEPS[type];
  if (secretsIn.length === 0) return config;
  const place = { key: deriveKey(secretKey, 'at-rest'), stepId };
  return secretsIn.reduce((changed, field) => change(SECRETS[field], place, changed), config);
}

function sealHeaders(place: StoredSecretLocation, config: StepConfig, current: StepConfig | undefined): StepConfig {
  const keepStoredHeader = (name: string, value: string) => findStoredHeader(place, { name, value, config, current });
  const lost = Object.entries(readHeaders(config)).filter(
    ([name, value]) => isMaskedSecret(value) && keepStoredHeader(name, value) === '',
  );
  if (lost.length > 0) throw new AppError('VALIDATION_ERROR', { errors: lost.map(createMissingSecretError) });
  return mapHeaders(config, (name, value) =>
    isMaskedSecret(value)
      ? keepStoredHeader(name, value)
      : sealSecret(place.key, headerSecretContext(place, name), value),
  );
}

/**
 * Returns the encrypted value of the header that the masked value stands for. The header's name may be in upper or
 * lower case. Empty if no such value is stored for the header, or if the stored value is for another origin.
 */
function findStoredHeader(
  place: StoredSecretLocation,
  p: { name: string; value: string; config: StepConfig; current: StepConfig | undefined },
): string {
  if (!hasSameOrigin(readUrl(p.current)?.url ?? '', readUrl(p.config)?.url ?? '')) return '';
  const name = p.name.toLowerCase();
  const stored = Object.entries(readHeaders(p.current)).find(([known]) => known.toLowerCase() === name)?.[1] ?? '';
  const isSameSecret =
    stored !== '' && maskSecret(unsealSecret(place.key, headerSecretContext(place, name), stored)) === p.value;
  return isSameSecret ? stored : '';
}

function createMissingSecretError([name, value]: [string, string]): FieldError {
  const message = `${value} stands for a stored value, but no value is stored for this header and the scheme, host and port of the url: write the value out`;
  return { field: `config.headers.${name}`, message, code: 'custom' };
}

function unsealHeaders(place: StoredSecretLocation, config: StepConfig): StepConfig {
  return mapHeaders(config, (name, value) => unsealSecret(place.key, headerSecretContext(place, name), value));
}

function headerSecretContext({ stepId }: StoredSecretLocation, name: string): string {
  return `workflow_steps.headers:${stepId}:${name.toLowerCase()}`;
}

function urlSecretContext({ stepId }: StoredSecretLocation): string {
  return `workflow_steps.url:${stepId}`;
}

function readUrl(config: StepConfig | undefined): StoredUrl | undefined {
  if (typeof config?.url !== 'string') return undefined;
  return { url: config.url, sealed: typeof config.urlSecret === 'string' ? config.urlSecret : null };
}

function setUrl({ urlSecret: _, ...config }: StepConfig, { url, sealed }: StoredUrl): StepConfig {
  return { ...config, url, ...(sealed !== null && { urlSecret: sealed }) };
}

function mapHeaders(config: StepConfig, change: (name: string, value: string) => string): StepConfig {
  const entries = Object.entries(readHeaders(config));
  if (entries.length === 0) return config;
  return { ...config, headers: Object.fromEntries(entries.map(([name, value]) => [name, change(name, value)])) };
}

function readHeaders(config: StepConfig | undefined): Record<string, string> {
  const headers = config?.headers;
  return headers && typeof headers === 'object' ? (headers as Record<string, string>) : {};
}
