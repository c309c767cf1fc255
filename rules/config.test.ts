import { describe, expect, it } from 'vitest';
import type { ConfigVariable } from './config/variable.ts';
import {
  ConfigError,
  parseConfig,
  parseSettings,
  parseStartSettings,
  toBrowserUrl,
  VARIABLES,
  type VariableName,
} from './config.ts';

const REQUIRED_VARIABLES = {
  DATABASE_URL: 'postgres://tidings:secret@db:5432/tidings',
  TEMPORAL_ADDRESS: 'temporal:7233',
  SECRET_KEY: 'a-secret-key-of-some-length',
};

function parseAndCatch(env: Record<string, string>): ConfigError {
  try {
    parseSettings(env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('the settings were accepted');
}

describe('settings of npm start', () => {
  it('an empty environment has the documented defaults', () => {
    expect(parseSettings({})).toMatchObject({
      home: '.tidings',
      host: '127.0.0.1',
      port: 3000,
      publicUrl: 'http://127.0.0.1:3000',
      database: { url: undefined },
      temporal: { address: undefined, namespace: 'default', uiUrl: undefined },
      email: { provider: 'capture', dkimSign: true, ses: { snsTopicArns: [] } },
      sms: { provider: 'capture' },
      rateLimitPerMinute: 1000,
      sendRatePerSecond: 0,
      webhookAllowPrivate: false,
      dnsServers: [],
      dashboard: true,
      operators: [],
      corsOrigins: [],
      logLevel: 'info',
      metricsPort: undefined,
      metricsHost: '127.0.0.1',
      publicHost: false,
      inboundSmtpPort: undefined,
      smtpRelay: { port: undefined, allowPlain: false },
    });
  });

  it('an empty or blank variable counts as unset', () => {
    expect(parseSettings({ PORT: '', SMTP_URL: ' ', LOG_LEVEL: '' })).toMatchObject({ port: 3000, logLevel: 'info' });
  });

  it('by default, anyone can sign up on a loopback HOST, and only the first user on another HOST', () => {
    expect(parseSettings({}).signup).toBe('on');
    expect(parseSettings({ HOST: '0.0.0.0' }).signup).toBe('first');
    expect(parseSettings({ HOST: '0.0.0.0', SIGNUP: 'off' }).signup).toBe('off');
  });

  it('PUBLIC_URL defaults to an address from HOST and PORT, and loses the slash at its end', () => {
    expect(parseSettings({ HOST: '0.0.0.0', PORT: '80' }).publicUrl).toBe('http://127.0.0.1:80');
    expect(parseSettings({ PUBLIC_URL: 'https://mail.example.com/' }).publicUrl).toBe('https://mail.example.com');
    expect(toBrowserUrl('::1', 3000)).toBe('http://[::1]:3000');
  });

  it('a list is split at its commas', () => {
    const settings = parseSettings({
      DNS_SERVERS: '127.0.0.1:5353, 9.9.9.9,[::1]:53,2620:fe::fe',
      CORS_ORIGINS: 'https://a.example.com,http://localhost:5173/',
    });
    expect(settings.dnsServers).toEqual(['127.0.0.1:5353', '9.9.9.9', '[::1]:53', '2620:fe::fe']);
    expect(settings.corsOrigins).toEqual(['https://a.example.com', 'http://localhost:5173']);
  });
});

describe('a HOST that other machines reach', () => {
  const PUBLIC = { HOST: '0.0.0.0' };
  const SMTP = { EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:25' };

  it.each(['0.0.0.0', '::', '192.168.1.2', 'vm'])('%s is a HOST that other machines reach', (HOST) => {
    expect(parseSettings({ HOST }).publicHost).toBe(true);
  });

  it.each([
    ['capture', {}],
    ['none', SMTP],
    ['none', { ...PUBLIC, ...SMTP }],
    ['none', { ...PUBLIC, ALLOW_CAPTURE: 'true' }],
    ['capture', { ...PUBLIC, ALLOW_CAPTURE: 'true', SMS_PROVIDER: 'capture' }],
    ['capture', { ...SMTP, SMS_PROVIDER: 'capture' }],
  ])('the SMS provider is %s with the settings %j', (provider, env) => {
    expect(parseStartSettings(env as Record<string, string>).sms.provider).toBe(provider);
  });

  it.each<[VariableName, Record<string, string>]>([
    ['EMAIL_PROVIDER', PUBLIC],
    ['SMS_PROVIDER', { ...PUBLIC, ...SMTP, SMS_PROVIDER: 'capture' }],
  ])(
    'does not capture messages by accident: %s is refused, with one line that names the setting to change',
    (variable, env) => {
      for (const parse of [parseStartSettings, parseConfig]) {
        expect(() => parse({ ...REQUIRED_VARIABLES, ...env })).toThrow(expect.objectContaining({ variable }));
      }
      expect(() => parseStartSettings(env)).toThrow(/^[^\n]*ALLOW_CAPTURE=true[^\n]*$/);
    },
  );

  it('does not prevent capturing in a command that opens no port, such as migrate', () => {
    expect(parseSettings(PUBLIC).email.provider).toBe('capture');
  });
});

describe('a value that cannot be used', () => {
  it.each<[VariableName, string]>([
    ['HOST', 'not a host'],
    ['PORT', 'abc'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '3e3'],
    ['PUBLIC_URL', 'example.com'],
    ['DATABASE_URL', 'mysql://root@localhost/x'],
    ['TEMPORAL_ADDRESS', 'temporal'],
    ['TEMPORAL_NAMESPACE', 'a b'],
    ['WORKERS', '0'],
    ['WORKERS', '1.5'],
    ['EMAIL_PROVIDER', 'sendmail'],
    ['SMTP_URL', 'mail.example.com:25'],
    ['DKIM_SIGN', 'maybe'],
    ['RETURN_PATH_DOMAIN', '@example.com'],
    ['SMS_PROVIDER', 'nexmo'],
    ['SECRET_KEY', 'short'],
    ['RATE_LIMIT_PER_MINUTE', '-5'],
    ['SEND_RATE_PER_SECOND', 'fast'],
    ['WEBHOOK_ALLOW_PRIVATE', 'sometimes'],
    ['DNS_SERVERS', 'dns.example.com'],
    ['SIGNUP', 'all'],
    ['CORS_ORIGINS', 'https://a.example.com/path'],
    ['LOG_LEVEL', 'loud'],
    ['METRICS_PORT', 'yes'],
    ['METRICS_HOST', 'localhost'],
    ['ALLOW_CAPTURE', 'perhaps'],
    ['SNS_TOPIC_ARNS', 'my-topic'],
    ['INBOUND_SMTP_PORT', '99999'],
    ['TWILIO_BASE_URL', 'localhost'],
  ])('%s=%s is refused in one line that names the variable and its permitted values', (name, value) => {
    const error = parseAndCatch({ [name]: value });
    expect(error.variable).toBe(name);
    expect(error.message).toContain(`${name} must be ${VARIABLES[name].takes}`);
    expect(error.message).not.toContain('\n');
  });

  it('never shows the text of a secret', () => {
    expect(parseAndCatch({ SMTP_URL: 'http://user:hunter2@x' }).message).not.toContain('hunter2');
    expect(parseAndCatch({ SECRET_KEY: 'hunter2' }).message).not.toContain('hunter2');
  });

  it('a variable whose name ends in KEY, TOKEN, SECRET or PASSWORD is a secret, unless it is the path of a file', () => {
    const named = Object.entries<ConfigVariable>(VARIABLES).filter(([name]) =>
      /_(KEY|TOKEN|SECRET|PASSWORD)$/.test(name),
    );
    expect(named.map(([name]) => name)).toContain('TWILIO_AUTH_TOKEN');
    const shown = named.filter(([, { secret, takes }]) => !secret && !takes.startsWith('the path of '));
    expect(shown.map(([name]) => name)).toEqual([]);
  });

  it('a variable for a URL with a password is a secret', () => {
    const addresses = Object.entries<ConfigVariable>(VARIABLES).filter(([, { takes }]) => /:\/\/\w+:\w+@/.test(takes));
    expect(addresses.map(([name, { secret }]) => [name, secret])).toEqual([
      ['DATABASE_URL', true],
      ['SMTP_URL', true],
    ]);
  });

  it('an error message has one line, even if the value has a line break', () => {
    expect(parseAndCatch({ LOG_LEVEL: 'a\nb' }).message).not.toContain('\n');
  });
});

describe('variables that require other variables', () => {
  it.each<[VariableName, Record<string, string>]>([
    ['SMTP_URL', { EMAIL_PROVIDER: 'smtp' }],
    ['SES_REGION', { EMAIL_PROVIDER: 'ses' }],
    ['ASSETS_S3_REGION', { ASSETS_S3_BUCKET: 'pictures' }],
    ['ASSETS_S3_BUCKET', { ASSETS_S3_ENDPOINT: 'http://127.0.0.1:9000' }],
    ['ASSETS_S3_SECRET_ACCESS_KEY', { ASSETS_S3_BUCKET: 'p', ASSETS_S3_REGION: 'x', ASSETS_S3_ACCESS_KEY_ID: 'id' }],
    ['ASSETS_S3_ACCESS_KEY_ID', { ASSETS_S3_BUCKET: 'p', ASSETS_S3_REGION: 'x', ASSETS_S3_SECRET_ACCESS_KEY: 's' }],
    ['TWILIO_ACCOUNT_SID', { SMS_PROVIDER: 'twilio' }],
    ['TLS_KEY_FILE', { TLS_CERT_FILE: '/a.pem' }],
    ['TEMPORAL_TLS_KEY', { TEMPORAL_TLS_CERT: '/a.pem' }],
  ])('%s is required with the settings %j', (name, env) => {
    expect(parseAndCatch(env).message).toMatch(new RegExp(`^${name} is required, because `));
  });

  it("SES can also get its region from AWS's own variable", () => {
    expect(parseSettings({ EMAIL_PROVIDER: 'ses', AWS_REGION: 'eu-west-1' }).email.ses.region).toBe('eu-west-1');
  });
});

describe('an API or worker, which gets all settings from environment variables', () => {
  it('reads the addresses of the database and of Temporal, and the secret key', () => {
    expect(parseConfig(REQUIRED_VARIABLES)).toMatchObject({
      database: { url: REQUIRED_VARIABLES.DATABASE_URL },
      temporal: { address: 'temporal:7233', namespace: 'default' },
      secretKey: REQUIRED_VARIABLES.SECRET_KEY,
    });
  });

  it.each(['DATABASE_URL', 'TEMPORAL_ADDRESS', 'SECRET_KEY'] as const)('is refused without %s', (name) => {
    expect(() => parseConfig({ ...REQUIRED_VARIABLES, [name]: undefined })).toThrow(new RegExp(`^${name} is required`));
  });
});
