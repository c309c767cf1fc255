import { findAnySealedKey } from '../../db/inspection.ts';
import { isLoopbackHost } from '../../rules/access/loopback.ts';
import { deriveKey, unsealSecret } from '../../rules/access/secrets.ts';
import { findCaptureError, type Settings } from '../../rules/config.ts';
import { getDkimKeyContext } from '../../rules/domains/dkim-key.ts';
import type { Deployment } from './deployment.ts';
import { type DoctorCheck, type DoctorFinding, failFinding, passFinding, warnFinding } from './report.ts';

/** The minimum length of SECRET_KEY. 32 hexadecimal characters are 128 bits. */
const KEY_CHARS = 32;
/**
 * The minimum number of different characters in SECRET_KEY. A random key with 32 hexadecimal digits has fewer than 8
 * different digits with a probability below one in a million.
 */
const KEY_DISTINCT_CHARS = 8;
/**
 * Words that a random key practically never contains. A key with such a word was most likely invented by a person.
 */
const KEY_WORDS = /secret|change|passw|example|default|tidings|qwert|12345678/i;
const CREATE_KEY =
  'create a key with "openssl rand -hex 32" before there is data: stored secrets can be decrypted only with the old key';

/**
 * Checks that SECRET_KEY, or the key in the home, cannot be guessed. Also checks that it can decrypt a stored secret.
 */
export const secretKeyCheck: DoctorCheck = {
  name: 'secret key',
  async run(deployment) {
    const { secretKey, settings } = deployment;
    if (secretKey === undefined) return [createMissingKeyFinding(settings)];
    const strength = checkStrength(secretKey.value, secretKey.from === 'home' ? 'stored in the home' : 'SECRET_KEY');
    return [strength, ...(await checkStoredSecrets(deployment, secretKey.value))];
  },
};

/**
 * Checks the settings that matter when other machines can reach the service or its metrics. `captureCheck` checks the
 * providers.
 */
export const publicHostCheck: DoctorCheck = {
  name: 'public HOST',
  run({ settings }) {
    const found = settings.publicHost ? checkSettingsForPublicHost(settings) : [];
    if (!isLoopbackHost(settings.metricsHost) && settings.metricsPort !== undefined) {
      found.push(
        warnFinding(
          `anyone can read metrics at ${settings.metricsHost}`,
          'limit METRICS_PORT to Prometheus with a firewall',
        ),
      );
    }
    if (found.length > 0) return found;
    if (!settings.publicHost) return [passFinding(`HOST ${settings.host} is reached from this machine only`)];
    return [passFinding(`HOST ${settings.host} is public, and links lead to ${settings.publicUrl}`)];
  },
};

/** Checks that a service for real users sends its messages instead of capturing them. */
export const captureCheck: DoctorCheck = {
  name: 'capture',
  run({ settings }) {
    const problem = findCaptureError(settings);
    if (problem) {
      const [message = '', remedy = ''] = problem.message.split(/: (?=set )/);
      return [failFinding(message, remedy)];
    }
    const captured = [settings.email.captures && 'email', settings.sms.captures && 'SMS'];
    const what = captured.filter(Boolean).join(' and ');
    if (!what) return [passFinding('email and SMS are not captured')];
    if (!settings.publicHost && isLocal(settings.publicUrl))
      return [passFinding(`${what}: stored in the mailbox of this machine instead of sent`)];
    return [
      warnFinding(
        `${what}: captured instead of sent, although others can reach this service`,
        'set EMAIL_PROVIDER and SMS_PROVIDER before you send to real people',
      ),
    ];
  },
};

function createMissingKeyFinding({ database, temporal }: Settings): DoctorFinding {
  const usesExternalServers = database.url !== undefined && temporal.address !== undefined;
  if (usesExternalServers) return failFinding('SECRET_KEY is not set, and the API and the workers need it', CREATE_KEY);
  return passFinding('npm start creates a key at its first start and stores it in the home');
}

function checkStrength(key: string, name: string): DoctorFinding {
  if (KEY_WORDS.test(key) || new Set(key).size < KEY_DISTINCT_CHARS)
    return failFinding(`${name} can be guessed`, CREATE_KEY);
  if (key.length < KEY_CHARS)
    return warnFinding(`${name} has ${key.length} characters, fewer than ${KEY_CHARS}`, CREATE_KEY);
  return passFinding(`${name}, ${key.length} characters`);
}

async function checkStoredSecrets({ postgres }: Deployment, secretKey: string): Promise<DoctorFinding[]> {
  const inspected = await postgres();
  if ('reason' in inspected) return [];
  // If the database has pending migrations, the table may be missing. The database then has no stored secrets.
  const stored = await findAnySealedKey(inspected.db).catch(() => undefined);
  if (!stored) return [];
  try {
    unsealSecret(deriveKey(secretKey, 'at-rest'), getDkimKeyContext(stored.domainId), stored.sealed);
    return [];
  } catch {
    const remedy = 'set SECRET_KEY to the key of this database: it is in the backups, or in the home as secret-key';
    return [failFinding('the key cannot decrypt the secrets in the database', remedy)];
  }
}

function checkSettingsForPublicHost(settings: Settings): DoctorFinding[] {
  const { host, publicUrl, signup, webhookAllowPrivate, smtpRelay, rateLimitPerMinute } = settings;
  const rules: [boolean, () => DoctorFinding][] = [
    [
      isLocal(publicUrl),
      () =>
        failFinding(
          `links in emails lead to ${publicUrl}, which is each reader's own machine`,
          'set PUBLIC_URL to the public address of the service',
        ),
    ],
    [
      signup === 'on',
      () =>
        warnFinding(
          `anyone who reaches HOST ${host} may sign up and send`,
          'set SIGNUP=first or off, unless the service is open to the public',
        ),
    ],
    [
      webhookAllowPrivate,
      () =>
        failFinding(
          'webhooks can call private addresses: tenants can reach services inside the network',
          'set WEBHOOK_ALLOW_PRIVATE=false',
        ),
    ],
    [
      smtpRelay.port !== undefined && smtpRelay.allowPlain,
      () =>
        failFinding(
          'the SMTP relay accepts API keys without TLS',
          'set TLS_CERT_FILE and TLS_KEY_FILE, and SMTP_RELAY_ALLOW_PLAIN=false',
        ),
    ],
    [
      rateLimitPerMinute === 0,
      () => warnFinding('requests have no rate limit', 'set RATE_LIMIT_PER_MINUTE, such as 1000'),
    ],
  ];
  return rules.flatMap(([holds, finding]) => (holds ? [finding()] : []));
}

function isLocal(publicUrl: string): boolean {
  return isLoopbackHost(new URL(publicUrl).hostname);
}
