import { isIP } from 'node:net';
import { isLoopbackHost } from './access/loopback.ts';
import { ACCESS, SECRETS } from './config/access.ts';
import { ASSETS, type BucketSettings, findMissingBucketVariable, readBucketSettings } from './config/assets.ts';
import { describeSendingProviders, EMAIL, findMissingEmailVariable, readEmailSettings } from './config/email.ts';
import { findAttachmentsError, LIMITS, readLimitSettings } from './config/limits.ts';
import { LISTENERS } from './config/listeners.ts';
import { OBSERVATION } from './config/observation.ts';
import { RETENTION, readRetentionSettings } from './config/retention.ts';
import { SERVICE } from './config/service.ts';
import { describeSmsProviders, findMissingSmsVariable, readSmsSettings, SMS } from './config/sms.ts';
import { readTemporalSettings, TEMPORAL } from './config/temporal.ts';
import type { ConfigVariable, Environment, ValuesOf, Variables } from './config/variable.ts';
import { chooseEhloName } from './emails/ehlo-name.ts';
import { findSmtpUrlError } from './emails/smtp-url.ts';

export type { BucketSettings } from './config/assets.ts';
export type { Retention } from './config/retention.ts';
export type { Environment } from './config/variable.ts';

/** Every environment variable of the service, in the order of the documentation's table. */
export const VARIABLES = {
  ...SERVICE,
  ...TEMPORAL,
  ...EMAIL,
  ...SMS,
  ...ASSETS,
  ...SECRETS,
  ...LIMITS,
  ...ACCESS,
  ...OBSERVATION,
  ...LISTENERS,
  ...RETENTION,
} as const satisfies Variables;

export type VariableName = keyof typeof VARIABLES;
type Values = ValuesOf<typeof VARIABLES>;

/**
 * An environment variable has a value that the service cannot use, or is missing. The message is one line that names
 * the variable and its valid values.
 */
export class ConfigError extends Error {
  readonly variable: VariableName;
  constructor(variable: VariableName, message: string) {
    super(message);
    this.name = 'ConfigError';
    this.variable = variable;
  }
}

/**
 * The settings of `npm start` and of commands. The URL of the database, the address of Temporal and the secret key may
 * be undefined, because `npm start` can create them.
 */
export type Settings = ReturnType<typeof parseSettings>;

/** The settings of an API or a worker, with all required values. */
export type Config = Settings & {
  database: { url: string };
  temporal: { address: string };
  secretKey: string;
};

/**
 * Reads and checks every variable for an API or a worker, which gets all its settings from environment variables.
 * @throws ConfigError for the first variable that cannot be used or is missing, and if `findCaptureError` finds an
 * error
 */
export function parseConfig(env: Environment): Config {
  const settings = parseStartSettings(env);
  return {
    ...settings,
    database: { url: requireVariable(settings.database.url, 'DATABASE_URL') },
    temporal: { ...settings.temporal, address: requireVariable(settings.temporal.address, 'TEMPORAL_ADDRESS') },
    secretKey: requireVariable(settings.secretKey, 'SECRET_KEY'),
  };
}

/**
 * Reads the settings of `npm start`, which can create the database, Temporal and the secret key itself.
 * @throws ConfigError for the first variable that cannot be used, and if `findCaptureError` finds an error
 */
export function parseStartSettings(env: Environment): Settings {
  const settings = parseSettings(env);
  const problem = findCaptureError(settings);
  if (problem) throw new ConfigError(problem.variable, problem.message);
  return settings;
}

/**
 * Returns an error if the settings capture emails or SMS instead of sending them, although other machines can reach
 * HOST and ALLOW_CAPTURE is off. The message is one line with a remedy. Undefined if there is no error.
 */
export function findCaptureError(
  settings: Pick<Settings, 'publicHost' | 'host' | 'allowCapture' | 'email' | 'sms'>,
): { variable: VariableName; message: string } | undefined {
  if (!settings.publicHost || settings.allowCapture) return undefined;
  const because = `and other machines reach HOST ${settings.host}`;
  if (settings.email.captures) {
    return {
      variable: 'EMAIL_PROVIDER',
      message: `EMAIL_PROVIDER is capture, which keeps mail for development instead of sending it, ${because}: set EMAIL_PROVIDER=${describeSendingProviders()}; or ALLOW_CAPTURE=true to capture on purpose.`,
    };
  }
  if (!settings.sms.captures) return undefined;
  return {
    variable: 'SMS_PROVIDER',
    message: `SMS_PROVIDER is capture, which keeps SMS for development instead of sending them, ${because}: set SMS_PROVIDER=${describeSmsProviders()}; or ALLOW_CAPTURE=true to capture on purpose.`,
  };
}

/**
 * Reads every variable, and checks each alone and together with the variables that it requires. Does not call
 * `findCaptureError`, so call this function only in commands that open no port to other machines.
 * @throws ConfigError for the first variable that cannot be used
 */
export function parseSettings(env: Environment) {
  const values = readValues(env);
  const email = readEmailSettings(values, env);
  const publicHost = !isLoopbackHost(values.HOST);
  const sms = readSmsSettings(values, env, !publicHost && email.captures);
  const assetsBucket = readBucketSettings(values, env);
  checkTogether(values, { email, sms, bucket: assetsBucket });
  /** The URL without a slash at its end. */
  const publicUrl = values.PUBLIC_URL ?? toBrowserUrl(values.HOST, values.PORT);
  return {
    home: values.TIDINGS_HOME,
    host: values.HOST,
    /**
     * True unless HOST is a loopback host. If true, development features are off, need a sign-in or prevent the start.
     */
    publicHost,
    port: values.PORT,
    publicUrl,
    dashboard: values.DASHBOARD,
    /** Email addresses in lower case. */
    operators: values.OPERATORS,
    corsOrigins: values.CORS_ORIGINS,
    /** IP addresses and CIDRs. */
    trustedProxies: values.TRUSTED_PROXIES,
    database: { url: values.DATABASE_URL },
    /** How to resolve a mismatch between Postgres and Temporal; undefined stops the start at a mismatch. */
    installationChoice: values.INSTALLATION,
    temporal: readTemporalSettings(values),
    /** The number of workers. Undefined means one worker per core, at most 4. */
    workers: values.WORKERS,
    email: { ...email, ehloName: chooseEhloName({ returnPathDomain: email.returnPathDomain, publicUrl }) },
    allowCapture: values.ALLOW_CAPTURE,
    sms,
    /** The bucket for images. Without a bucket, images are stored in Postgres. */
    assetsBucket,
    secretKey: values.SECRET_KEY,
    ...readLimitSettings(values),
    webhookAllowPrivate: values.WEBHOOK_ALLOW_PRIVATE,
    /** An empty list means the DNS servers of the system. */
    dnsServers: values.DNS_SERVERS,
    signup: values.SIGNUP ?? (publicHost ? ('first' as const) : ('on' as const)),
    logLevel: values.LOG_LEVEL,
    /** The listeners for metrics, inbound email and the SMTP relay are off if their port is undefined. */
    metricsPort: values.METRICS_PORT,
    metricsHost: values.METRICS_HOST,
    inboundSmtpPort: values.INBOUND_SMTP_PORT,
    smtpRelay: { port: values.SMTP_RELAY_PORT, allowPlain: values.SMTP_RELAY_ALLOW_PLAIN },
    /** Paths of PEM files for the mail listeners. */
    tls: { certFile: values.TLS_CERT_FILE, keyFile: values.TLS_KEY_FILE },
    retention: readRetentionSettings(values),
  };
}

/** Returns the address at which a browser on this machine reaches a server bound to `host` and `port`. */
export function toBrowserUrl(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${isIP(reachable) === 6 ? `[${reachable}]` : reachable}:${port}`;
}

function readValues(env: Environment): Values {
  const entries = Object.entries<ConfigVariable>(VARIABLES).map(([name, variable]) => [
    name,
    readValue(name as VariableName, variable, env[name]?.trim()),
  ]);
  return Object.fromEntries(entries);
}

function readValue(name: VariableName, variable: ConfigVariable, text: string | undefined): unknown {
  const value = text || variable.default;
  if (value === undefined) return undefined;
  const result = variable.schema.safeParse(value);
  if (result.success) return result.data;
  throw new ConfigError(
    name,
    `${name} must be ${variable.takes}${variable.secret ? '.' : `, not ${quoteValue(value)}.`}`,
  );
}

/** Formats a value for a one-line message: quoted, with control characters escaped, cut to 60 characters. */
function quoteValue(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

function checkTogether(
  values: Values,
  {
    email,
    sms,
    bucket,
  }: {
    email: ReturnType<typeof readEmailSettings>;
    sms: ReturnType<typeof readSmsSettings>;
    bucket: BucketSettings | undefined;
  },
): void {
  const throwIfMissing = (name: string | undefined, because: string): void => {
    if (name !== undefined) throw createMissingVariableError(name as VariableName, because);
  };
  const requirePair = (one: VariableName, other: VariableName): void => {
    if (values[one] && values[other] === undefined) throw createMissingVariableError(other, `${one} is set`);
  };
  throwIfMissing(findMissingEmailVariable(email), `EMAIL_PROVIDER is ${email.provider}`);
  throwIfMissing(findMissingSmsVariable(sms), `SMS_PROVIDER is ${sms.provider}`);
  throwIfMissing(findMissingBucketVariable(bucket), 'ASSETS_S3_BUCKET is set');
  const tooLarge = findAttachmentsError(values.ATTACHMENTS_MAX_MB, email);
  if (tooLarge !== undefined) throw new ConfigError('ATTACHMENTS_MAX_MB', tooLarge);
  const smtpProblem = values.SMTP_URL === undefined ? undefined : findSmtpUrlError(values.SMTP_URL);
  if (smtpProblem !== undefined) throw new ConfigError('SMTP_URL', smtpProblem);
  requirePair('ASSETS_S3_ENDPOINT', 'ASSETS_S3_BUCKET');
  requirePair('ASSETS_S3_ACCESS_KEY_ID', 'ASSETS_S3_BUCKET');
  requirePair('ASSETS_S3_ACCESS_KEY_ID', 'ASSETS_S3_SECRET_ACCESS_KEY');
  requirePair('ASSETS_S3_SECRET_ACCESS_KEY', 'ASSETS_S3_ACCESS_KEY_ID');
  requirePair('TLS_CERT_FILE', 'TLS_KEY_FILE');
  requirePair('TLS_KEY_FILE', 'TLS_CERT_FILE');
  requirePair('TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY');
  requirePair('TEMPORAL_TLS_KEY', 'TEMPORAL_TLS_CERT');
}

function requireVariable<T>(value: T | undefined, name: VariableName): T {
  if (value === undefined) throw createMissingVariableError(name, 'this process is configured by environment alone');
  return value;
}

function createMissingVariableError(name: VariableName, because: string): ConfigError {
  return new ConfigError(name, `${name} is required, because ${because}: set it to ${VARIABLES[name].takes}.`);
}
