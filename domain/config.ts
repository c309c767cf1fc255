import { isIP } from 'node:net';
import { z } from 'zod';
import { isAddressOrNetwork } from './caller-address.ts';
import { isLoopbackHost } from './loopback.ts';

/** One environment variable: how its text is read, what it takes in words, and what it is for. */
interface Variable {
  /** From the variable's text, never empty, to its value. */
  readonly schema: z.ZodType;
  /** What the variable takes, as the end of "NAME must be …". */
  readonly takes: string;
  /** Text that stands in for a variable that is unset or empty; absent: the value is undefined. */
  readonly default?: string;
  /** The default in words for the table, where `default` does not say it. */
  readonly defaultText?: string;
  /** One sentence for the table of the documentation. */
  readonly about: string;
  /** The text never shows in a message. */
  readonly secret?: true;
}

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

/** 16 characters are the least that cannot be guessed by trying; `openssl rand -hex 32` is the advice. */
const SECRET_KEY_MIN_CHARS = 16;
/** In base64 with its line ends 38.3 MB; what is left of 40 is for the words of the mail. */
const ATTACHMENTS_MOST_MB = 28;
/** More processes than this on one machine is a typing error. */
const WORKERS_MAX = 64;

const text = z.string();
const switchWord = z
  .string()
  .transform((value) => SWITCH_WORDS[value.toLowerCase()])
  .pipe(z.boolean());
const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/)
    .transform(Number)
    .pipe(z.number().int().min(min).max(max));
const port = wholeNumber(1, 65_535);
const optionalPort = z.union([z.literal('off').transform(() => undefined), port]);
const url = (...schemes: string[]) =>
  z.string().refine((value) => URL.canParse(value) && schemes.includes(new URL(value).protocol.slice(0, -1)));
const httpUrl = url('http', 'https').transform((value) => value.replace(/\/+$/, ''));
const hostPort = z.string().refine((value) => /^(\[[0-9a-f:]+\]|[^\s:/]+):\d{1,5}$/i.test(value));
const host = z.string().refine((value) => isIP(value) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(value));
const list = (item: z.ZodType<string, string>) =>
  z
    .string()
    .transform((value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )
    .pipe(z.array(item));
const dnsServer = z.string().refine((value) => {
  const [, address, portText] = /^(\[[^\]]+\]|[^:]+|[0-9a-f:]+?)(?::(\d{1,5}))?$/i.exec(value) ?? [];
  const bare = address?.replace(/^\[|\]$/g, '') ?? '';
  return isIP(value) !== 0 || (isIP(bare) !== 0 && (portText === undefined || Number(portText) <= 65_535));
});
const origin = z
  .string()
  .refine((value) => URL.canParse(value) && new URL(value).origin === value.replace(/\/$/, ''))
  .transform((value) => new URL(value).origin);

/** How long something is kept. */
const retentionDays = <D extends string>(days: D) => ({
  schema: wholeNumber(0, 36_500),
  takes: 'a number of days from 0 to 36500 (0 keeps for ever)',
  default: days,
});

/** Every environment variable of the service, in the order of the documentation's table. Source: running.md "Environment". */
export const VARIABLES = {
  TIDINGS_HOME: {
    schema: text,
    takes: 'a folder',
    default: '.tidings',
    about: 'Folder of `npm start` for data, logs, generated secrets and the downloaded or built Temporal.',
  },
  HOST: {
    schema: host,
    takes: 'an IP address or a host name',
    default: '127.0.0.1',
    about: 'Address that the API and the mail listeners bind to.',
  },
  PORT: {
    schema: wholeNumber(0, 65_535),
    takes: 'a port number from 0 to 65535 (0 takes a free port)',
    default: '3000',
    about: 'Port of the API; `0` takes a free port.',
  },
  PUBLIC_URL: {
    schema: httpUrl,
    takes: 'an http:// or https:// address',
    defaultText: 'from `HOST` and `PORT`',
    about: 'The address in links that recipients follow, and of the callbacks that providers call.',
  },
  DATABASE_URL: {
    schema: url('postgres', 'postgresql'),
    takes: 'a postgres:// address such as postgres://user:password@host:5432/tidings',
    defaultText: 'embedded Postgres under `npm start`, else required',
    about: 'The Postgres database (version 18 or newer).',
    secret: true,
  },
  TEMPORAL_ADDRESS: {
    schema: hostPort,
    takes: 'a host and a port such as temporal.example.com:7233',
    defaultText: 'embedded dev server under `npm start`, else required',
    about: "Temporal's frontend.",
  },
  TEMPORAL_NAMESPACE: {
    schema: z.string().regex(/^[\w.-]{2,255}$/),
    takes: 'a Temporal namespace (letters, digits, dots, dashes)',
    default: 'default',
    about: 'The Temporal namespace.',
  },
  TEMPORAL_API_KEY: {
    schema: text,
    takes: 'an API key',
    about: 'API key of Temporal Cloud; turns TLS on.',
    secret: true,
  },
  TEMPORAL_TLS_CERT: {
    schema: text,
    takes: 'the path of a PEM file',
    about: 'Client certificate for Temporal (mutual TLS), with `TEMPORAL_TLS_KEY`.',
  },
  TEMPORAL_TLS_KEY: {
    schema: text,
    takes: 'the path of a PEM file',
    about: 'Private key of `TEMPORAL_TLS_CERT`.',
  },
  TEMPORAL_TLS_CA: {
    schema: text,
    takes: 'the path of a PEM file',
    about: "Certificate authority of Temporal's server; turns TLS on.",
  },
  TEMPORAL_TLS_SERVER_NAME: {
    schema: host,
    takes: 'a host name',
    about: "Name to expect in the certificate of Temporal's server, where it is not that of the address.",
  },
  TEMPORAL_CLI_PATH: {
    schema: text,
    takes: 'the path of the temporal program',
    defaultText: 'found or fetched',
    about: 'The `temporal` program that `npm start` runs the dev server with.',
  },
  WORKERS: {
    schema: wholeNumber(1, WORKERS_MAX),
    takes: `a whole number from 1 to ${WORKERS_MAX}`,
    defaultText: 'the number of cores, at most 4',
    about: 'Worker processes of `npm start`.',
  },
  EMAIL_PROVIDER: {
    schema: z.enum(['capture', 'smtp', 'ses']),
    takes: 'capture, smtp or ses',
    default: 'capture',
    about:
      'Where mail goes: `capture` keeps it in a local mailbox shown at `/mailbox` (development only), `smtp`, `ses`.',
  },
  ALLOW_CAPTURE: {
    schema: switchWord,
    takes: 'true or false',
    default: 'false',
    about:
      'Lets a `HOST` that other machines reach capture mail and SMS instead of sending them; `/mailbox` then takes the session of an OWNER.',
  },
  SMTP_URL: {
    schema: url('smtp', 'smtps'),
    takes: 'smtp://user:pass@host:port or smtps://user:pass@host:port',
    about: 'The mail server of `EMAIL_PROVIDER=smtp`.',
    secret: true,
  },
  DKIM_SIGN: {
    schema: switchWord,
    takes: 'on or off',
    default: 'on',
    about: '`off` where the relay signs (also a setting of each domain).',
  },
  RETURN_PATH_DOMAIN: {
    schema: host,
    takes: 'a host name',
    defaultText: "the sender's own domain",
    about:
      'Host of the envelope sender that bounces come back to (VERP); its MX must lead to `INBOUND_SMTP_PORT`, and its SPF record name the hosts that send.',
  },
  SES_REGION: {
    schema: z.string().regex(/^[a-z0-9-]+$/),
    takes: 'an AWS region such as eu-west-1',
    defaultText: '`AWS_REGION`',
    about: "Region of Amazon SES; credentials come from AWS's own variables.",
  },
  SES_ENDPOINT: {
    schema: httpUrl,
    takes: 'an http:// or https:// address',
    defaultText: "AWS's own",
    about: 'Another server that speaks the SES API (tests).',
  },
  SNS_TOPIC_ARNS: {
    schema: list(z.string().regex(/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w.-]+$/)),
    takes: 'a comma-separated list of SNS topic ARNs',
    default: '',
    defaultText: 'none',
    about: 'Topics whose SES notifications are taken at `POST /webhooks/sns`.',
  },
  SMS_PROVIDER: {
    schema: z.enum(['capture', 'twilio', 'none']),
    takes: 'capture, twilio or none',
    defaultText: '`capture` where `HOST` is loopback and mail is captured, else `none`',
    about: 'Where SMS go: `capture` keeps them at `/mailbox/sms.json` (development only), `twilio`, `none`.',
  },
  TWILIO_ACCOUNT_SID: {
    schema: text,
    takes: 'a Twilio account SID',
    about: 'Account of `SMS_PROVIDER=twilio`.',
  },
  TWILIO_AUTH_TOKEN: {
    schema: text,
    takes: 'a Twilio auth token',
    about: 'Token of `TWILIO_ACCOUNT_SID`; also checks the signature of callbacks.',
    secret: true,
  },
  TWILIO_BASE_URL: {
    schema: httpUrl,
    takes: 'an http:// or https:// address',
    defaultText: "Twilio's own",
    about: "Another server that speaks Twilio's API (tests).",
  },
  SECRET_KEY: {
    schema: z.string().min(SECRET_KEY_MIN_CHARS),
    takes: `at least ${SECRET_KEY_MIN_CHARS} characters; make one with "openssl rand -hex 32"`,
    defaultText: 'generated into the home under `npm start`, else required',
    about: 'Signs links and encrypts stored secrets; the same for every process.',
    secret: true,
  },
  RATE_LIMIT_PER_MINUTE: {
    schema: wholeNumber(0, 1_000_000_000),
    takes: 'a whole number, 0 for no limit',
    default: '1000',
    about: 'API requests a minute and project; `0` is none.',
  },
  PUBLIC_RATE_LIMIT_PER_MINUTE: {
    schema: wholeNumber(0, 1_000_000_000),
    takes: 'a whole number, 0 for no limit',
    default: '1000',
    about:
      'Requests a minute by the public key of a project, apart from its others; `0` is none. 300 a caller and 100 a contact hold besides.',
  },
  SEND_RATE_PER_SECOND: {
    schema: wholeNumber(0, 1_000_000_000),
    takes: 'a whole number, 0 for no limit',
    default: '0',
    defaultText: '`0` (none)',
    about: 'Mails a second and project, over all workers.',
  },
  ATTACHMENTS_MAX_MB: {
    schema: wholeNumber(1, ATTACHMENTS_MOST_MB),
    takes: `a whole number from 1 to ${ATTACHMENTS_MOST_MB}`,
    default: '10',
    about:
      'Attachments of a mail together, decoded, in MB. More make larger request bodies (16 MB with 10), and the most make a message of 40 MB, which is all that Amazon SES takes.',
  },
  PROJECT_CPU_MS_PER_SECOND: {
    schema: wholeNumber(0, 1_000_000),
    takes: 'a whole number, 0 for no limit',
    default: '250',
    about:
      'What one project may compute in one process, in milliseconds of a processor a second: content with loops or costly filters, previews, files, large lists. What comes beyond waits.',
  },
  TIMERS_PER_SECOND: {
    schema: wholeNumber(0, 1_000_000),
    takes: 'a whole number, 0 for no limit',
    default: '20',
    about:
      'DELAYs and deadlines of WAIT_FOR_EVENT of a project that may end in one second, or as many as Temporal has just been seen to begin in one, if that is more; who comes beyond ends in a later one.',
  },
  WEBHOOK_ALLOW_PRIVATE: {
    schema: switchWord,
    takes: 'true or false',
    default: 'false',
    about: 'Lets webhooks reach private and loopback addresses (development only).',
  },
  DNS_SERVERS: {
    schema: list(dnsServer),
    takes: 'a comma-separated list of IP addresses with optional ports, such as 127.0.0.1:5353,9.9.9.9',
    default: '',
    defaultText: "the system's",
    about: 'DNS servers for verification of addresses and domains.',
  },
  SIGNUP: {
    schema: z.enum(['on', 'first', 'off']),
    takes: 'on, first or off',
    defaultText: '`on` on a loopback `HOST`, else `first`',
    about: 'Who may sign up: anyone, only the first user, nobody.',
  },
  CORS_ORIGINS: {
    schema: list(origin),
    takes: 'a comma-separated list of origins such as https://app.example.com',
    default: '',
    defaultText: 'none',
    about: 'Origins whose pages may call the API from a browser.',
  },
  TRUSTED_PROXIES: {
    schema: list(z.string().refine(isAddressOrNetwork)),
    takes: 'a comma-separated list of IP addresses and networks such as 10.0.0.0/8,192.0.2.7 (never /0)',
    default: '',
    defaultText: 'none',
    about: 'Proxies before the API: from these, and nobody else, `X-Forwarded-For` tells who the caller is.',
  },
  LOG_LEVEL: {
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    takes: 'trace, debug, info, warn, error, fatal or silent',
    default: 'info',
    about: 'Least severity that is logged.',
  },
  METRICS_PORT: {
    schema: optionalPort,
    takes: 'a port number from 1 to 65535, or off',
    default: 'off',
    about: 'Port of the Prometheus metrics; under `npm start` of the API, and the next ones of the workers in turn.',
  },
  METRICS_HOST: {
    schema: z.string().refine((value) => isIP(value) !== 0),
    takes: 'an IP address',
    default: '127.0.0.1',
    about: 'Address that the metrics bind to. They ask for no credentials: open it to the network of Prometheus only.',
  },
  INBOUND_SMTP_PORT: {
    schema: optionalPort,
    takes: 'a port number from 1 to 65535, or off',
    default: 'off',
    about: 'Port of the listener for returned and inbound mail.',
  },
  SMTP_RELAY_PORT: {
    schema: optionalPort,
    takes: 'a port number from 1 to 65535, or off',
    default: 'off',
    about: 'Port of the SMTP relay: user name `apikey`, password an API key with scope `email:send`.',
  },
  SMTP_RELAY_ALLOW_PLAIN: {
    schema: switchWord,
    takes: 'true or false',
    default: 'false',
    about: 'Lets the relay take a password without TLS from other hosts than loopback.',
  },
  TLS_CERT_FILE: {
    schema: text,
    takes: 'the path of a PEM file',
    about: 'Certificate of the mail listeners (STARTTLS), with `TLS_KEY_FILE`.',
  },
  TLS_KEY_FILE: {
    schema: text,
    takes: 'the path of a PEM file',
    about: 'Private key of `TLS_CERT_FILE`.',
  },
  WEBHOOK_DELIVERY_RETENTION_DAYS: {
    ...retentionDays('30'),
    about: 'Deliveries of the webhook registry are deleted this long after they ended.',
  },
  ATTACHMENT_RETENTION_DAYS: {
    ...retentionDays('7'),
    about:
      'The content of attachments is dropped this long after the last mail that has them ended; name, type and size stay.',
  },
  EXECUTION_STEP_RETENTION_DAYS: {
    ...retentionDays('180'),
    about: 'The steps of executions are deleted this long after the execution ended; the executions stay.',
  },
  EVENT_RETENTION_DAYS: {
    ...retentionDays('0'),
    about: 'Events are deleted at this age; segments, figures and the activity feed then know only what is younger.',
  },
  JOB_RETENTION_DAYS: {
    ...retentionDays('90'),
    about: 'Imports and bulk jobs are deleted this long after they ended.',
  },
  AUDIT_LOG_RETENTION_DAYS: {
    ...retentionDays('0'),
    about: 'Entries of the audit log are deleted at this age.',
  },
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof VARIABLES;
type Values = { [K in VariableName]: z.output<(typeof VARIABLES)[K]['schema']> | DefaultOf<(typeof VARIABLES)[K]> };
type DefaultOf<V> = V extends { default: string } ? never : undefined;

/** The environment as text, as a process has it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A value that cannot be used. The message is one line that names the variable and what it takes. */
export class ConfigError extends Error {
  readonly variable: VariableName;
  constructor(variable: VariableName, message: string) {
    super(message);
    this.name = 'ConfigError';
    this.variable = variable;
  }
}

/** The settings as `npm start` reads them: what it generates itself may be absent. */
export type Settings = ReturnType<typeof parseSettings>;

/** How many days things are kept; 0 is for ever. */
export type Retention = Settings['retention'];

/** The settings of an API or a worker: everything that such a process needs is there. */
export type Config = Settings & {
  database: { url: string };
  temporal: { address: string };
  secretKey: string;
};

/**
 * Reads and checks every variable for a process that is configured by environment alone.
 * @throws ConfigError for the first variable that cannot be used or is missing
 */
export function parseConfig(env: Environment): Config {
  const settings = parseStart(env);
  return {
    ...settings,
    database: { url: needed(settings.database.url, 'DATABASE_URL') },
    temporal: { ...settings.temporal, address: needed(settings.temporal.address, 'TEMPORAL_ADDRESS') },
    secretKey: needed(settings.secretKey, 'SECRET_KEY'),
  };
}

/**
 * The settings of `npm start`, which makes the database, Temporal and the secret key itself.
 * @throws ConfigError for the first variable that cannot be used, and for what only development would want where others reach HOST
 */
export function parseStart(env: Environment): Settings {
  const settings = parseSettings(env);
  const problem = captureProblem(settings);
  if (problem) throw new ConfigError(problem.variable, problem.message);
  return settings;
}

/** What is wrong with capturing mail or SMS instead of sending them, in one line with its remedy; undefined where nothing is. */
export function captureProblem(
  settings: Pick<Settings, 'publicHost' | 'host' | 'allowCapture' | 'email' | 'sms'>,
): { variable: VariableName; message: string } | undefined {
  if (!settings.publicHost || settings.allowCapture) return undefined;
  const because = `and other machines reach HOST ${settings.host}`;
  if (settings.email.provider === 'capture') {
    return {
      variable: 'EMAIL_PROVIDER',
      message: `EMAIL_PROVIDER is capture, which keeps mail for development instead of sending it, ${because}: set EMAIL_PROVIDER=smtp with SMTP_URL, or ses; or ALLOW_CAPTURE=true to capture on purpose.`,
    };
  }
  if (settings.sms.provider !== 'capture') return undefined;
  return {
    variable: 'SMS_PROVIDER',
    message: `SMS_PROVIDER is capture, which keeps SMS for development instead of sending them, ${because}: set SMS_PROVIDER=twilio or none; or ALLOW_CAPTURE=true to capture on purpose.`,
  };
}

/**
 * Reads every variable and checks each for itself and with those that it needs; for commands that open nothing to anybody.
 * @throws ConfigError for the first variable that cannot be used
 */
export function parseSettings(env: Environment) {
  const values = readValues(env);
  checkTogether(values, env);
  const publicHost = !isLoopbackHost(values.HOST);
  const developing = !publicHost && values.EMAIL_PROVIDER === 'capture';
  return {
    home: values.TIDINGS_HOME,
    host: values.HOST,
    /** Other machines reach HOST: what is only for development is off, closed or refused. */
    publicHost,
    port: values.PORT,
    /** Without a slash at its end. */
    publicUrl: values.PUBLIC_URL ?? httpAddress(values.HOST, values.PORT),
    corsOrigins: values.CORS_ORIGINS,
    /** Addresses and CIDRs. */
    trustedProxies: values.TRUSTED_PROXIES,
    database: { url: values.DATABASE_URL },
    temporal: {
      address: values.TEMPORAL_ADDRESS,
      namespace: values.TEMPORAL_NAMESPACE,
      apiKey: values.TEMPORAL_API_KEY,
      /** Paths of PEM files. */
      tlsCertFile: values.TEMPORAL_TLS_CERT,
      tlsKeyFile: values.TEMPORAL_TLS_KEY,
      tlsCaFile: values.TEMPORAL_TLS_CA,
      tlsServerName: values.TEMPORAL_TLS_SERVER_NAME,
      cliPath: values.TEMPORAL_CLI_PATH,
    },
    /** Undefined is one a core, at most 4. */
    workers: values.WORKERS,
    email: {
      provider: values.EMAIL_PROVIDER,
      smtpUrl: values.SMTP_URL,
      dkimSign: values.DKIM_SIGN,
      returnPathDomain: values.RETURN_PATH_DOMAIN?.toLowerCase(),
      sesRegion: values.SES_REGION ?? (env.AWS_REGION || undefined),
      sesEndpoint: values.SES_ENDPOINT,
      snsTopicArns: values.SNS_TOPIC_ARNS,
    },
    allowCapture: values.ALLOW_CAPTURE,
    sms: {
      provider: values.SMS_PROVIDER ?? (developing ? ('capture' as const) : ('none' as const)),
      twilioAccountSid: values.TWILIO_ACCOUNT_SID,
      twilioAuthToken: values.TWILIO_AUTH_TOKEN,
      twilioBaseUrl: values.TWILIO_BASE_URL,
    },
    secretKey: values.SECRET_KEY,
    /** Requests a minute and project; 0 is no limit. */
    rateLimitPerMinute: values.RATE_LIMIT_PER_MINUTE,
    /** Requests a minute by a project's public key; 0 is no limit. */
    publicRateLimitPerMinute: values.PUBLIC_RATE_LIMIT_PER_MINUTE,
    /** Mails a second and project over all workers; 0 is no limit. */
    sendRatePerSecond: values.SEND_RATE_PER_SECOND,
    /** Of a mail together, decoded. */
    attachmentsMaxBytes: values.ATTACHMENTS_MAX_MB * 1024 * 1024,
    /** Of one project in one process; 0 is no limit. */
    projectCpuMsPerSecond: values.PROJECT_CPU_MS_PER_SECOND,
    /** Timers of a project that end in one second; 0 is no limit. */
    timersPerSecond: values.TIMERS_PER_SECOND,
    webhookAllowPrivate: values.WEBHOOK_ALLOW_PRIVATE,
    /** Empty is the system's. */
    dnsServers: values.DNS_SERVERS,
    signup: values.SIGNUP ?? (publicHost ? ('first' as const) : ('on' as const)),
    logLevel: values.LOG_LEVEL,
    /** Ports that are undefined are off. */
    metricsPort: values.METRICS_PORT,
    metricsHost: values.METRICS_HOST,
    inboundSmtpPort: values.INBOUND_SMTP_PORT,
    smtpRelay: { port: values.SMTP_RELAY_PORT, allowPlain: values.SMTP_RELAY_ALLOW_PLAIN },
    /** Paths of PEM files for the mail listeners. */
    tls: { certFile: values.TLS_CERT_FILE, keyFile: values.TLS_KEY_FILE },
    /** Days; 0 is for ever. */
    retention: {
      webhookDeliveryDays: values.WEBHOOK_DELIVERY_RETENTION_DAYS,
      attachmentDays: values.ATTACHMENT_RETENTION_DAYS,
      executionStepDays: values.EXECUTION_STEP_RETENTION_DAYS,
      eventDays: values.EVENT_RETENTION_DAYS,
      jobDays: values.JOB_RETENTION_DAYS,
      auditLogDays: values.AUDIT_LOG_RETENTION_DAYS,
    },
  };
}

/** The address at which a browser on this machine reaches a server bound to `host` and `port`. */
export function httpAddress(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${isIP(reachable) === 6 ? `[${reachable}]` : reachable}:${port}`;
}

function readValues(env: Environment): Values {
  const entries = Object.entries<Variable>(VARIABLES).map(([name, variable]) => [
    name,
    readValue(name as VariableName, variable, env[name]?.trim()),
  ]);
  return Object.fromEntries(entries);
}

function readValue(name: VariableName, variable: Variable, given: string | undefined): unknown {
  const value = given || variable.default;
  if (value === undefined) return undefined;
  const result = variable.schema.safeParse(value);
  if (result.success) return result.data;
  throw new ConfigError(name, `${name} must be ${variable.takes}${variable.secret ? '.' : `, not ${shown(value)}.`}`);
}

/** A value for a one-line message: quoted, control characters escaped, cut to 60 characters. */
function shown(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

function checkTogether(values: Values, env: Environment): void {
  const need = (name: VariableName, because: string): void => {
    if (values[name] === undefined) throw missing(name, because);
  };
  if (values.EMAIL_PROVIDER === 'smtp') need('SMTP_URL', 'EMAIL_PROVIDER is smtp');
  if (values.EMAIL_PROVIDER === 'ses' && !env.AWS_REGION) need('SES_REGION', 'EMAIL_PROVIDER is ses');
  if (values.SMS_PROVIDER === 'twilio') {
    need('TWILIO_ACCOUNT_SID', 'SMS_PROVIDER is twilio');
    need('TWILIO_AUTH_TOKEN', 'SMS_PROVIDER is twilio');
  }
  if (values.TLS_CERT_FILE) need('TLS_KEY_FILE', 'TLS_CERT_FILE is set');
  if (values.TLS_KEY_FILE) need('TLS_CERT_FILE', 'TLS_KEY_FILE is set');
  if (values.TEMPORAL_TLS_CERT) need('TEMPORAL_TLS_KEY', 'TEMPORAL_TLS_CERT is set');
  if (values.TEMPORAL_TLS_KEY) need('TEMPORAL_TLS_CERT', 'TEMPORAL_TLS_KEY is set');
}

function needed<T>(value: T | undefined, name: VariableName): T {
  if (value === undefined) throw missing(name, 'this process is configured by environment alone');
  return value;
}

function missing(name: VariableName, because: string): ConfigError {
  return new ConfigError(name, `${name} is required, because ${because}: set it to ${VARIABLES[name].takes}.`);
}
