import { isIP } from 'node:net';
import { isLoopbackHost } from '../../rules/access/loopback.ts';
import type { Settings } from '../../rules/config.ts';

/** An open port of the service. */
export interface OpenPort {
  /** The name of the listener, such as `SMTP relay`. */
  readonly what: string;
  readonly address: string;
  /** A text for the user about the callers that may use the port. */
  readonly who: string;
}

/** Lists the ports that an API process opens. `port` is the actual port. */
export function listApiPorts(settings: Settings, port: number): OpenPort[] {
  const { host, inboundSmtpPort, smtpRelay, metricsPort } = settings;
  const from = describeReach(host);
  const rows: (OpenPort | false)[] = [
    {
      what: 'API',
      address: `http://${formatHostAndPort(host, port)}`,
      who: `${from}, by key or session; ${describeSignup(settings)}`,
    },
    {
      what: '/mailbox',
      address: `http://${formatHostAndPort(host, port)}/mailbox`,
      who: describeMailboxReaders(settings),
    },
    metricsPort !== undefined && describeMetricsPort(settings, metricsPort),
    smtpRelay.port !== undefined && {
      what: 'SMTP relay',
      address: formatHostAndPort(host, smtpRelay.port),
      who: `${from}, by API key${smtpRelay.allowPlain ? ', also without TLS' : ''}`,
    },
    inboundSmtpPort !== undefined && {
      what: 'inbound SMTP',
      address: formatHostAndPort(host, inboundSmtpPort),
      who: `${from}: email for verified domains`,
    },
  ];
  return rows.filter((row) => row !== false);
}

/**
 * Lists the ports that `npm start` opens: the ports of the API, the metrics of its workers, and the embedded Postgres
 * and Temporal.
 */
export function listStartPorts(
  settings: Settings,
  p: { port: number; workers: number; databaseUrl: string; temporal: { address: string; ui: string | null } },
): OpenPort[] {
  const metrics = settings.metricsPort;
  const workers = (metric: number) =>
    Array.from({ length: p.workers }, (_, index) =>
      describeMetricsPort(settings, metric + index + 1, `worker ${index + 1}`),
    );
  return [
    ...listApiPorts(settings, p.port),
    ...(metrics === undefined ? [] : workers(metrics)),
    ...(settings.database.url === undefined
      ? [{ what: 'Postgres', address: new URL(p.databaseUrl).host, who: 'this machine, by password' }]
      : []),
    ...(p.temporal.ui === null
      ? []
      : [
          { what: 'Temporal', address: p.temporal.address, who: 'this machine, without credentials' },
          { what: 'Temporal UI', address: p.temporal.ui, who: 'this machine, without credentials' },
        ]),
  ];
}

/** Formats the open ports as a table with a title, one line for each port. */
export function formatOpenPorts(openPorts: readonly OpenPort[]): string[] {
  const width = (column: 'what' | 'address') => Math.max(...openPorts.map((row) => row[column].length));
  const [what, address] = [width('what'), width('address')];
  return [
    'Open ports:',
    ...openPorts.map((row) => `  ${row.what.padEnd(what)}  ${row.address.padEnd(address)}  ${row.who}`),
  ];
}

function describeMetricsPort({ metricsHost }: Settings, port: number, of = ''): OpenPort {
  return {
    what: of ? `metrics, ${of}` : 'metrics',
    address: `http://${formatHostAndPort(metricsHost, port)}/metrics`,
    who: `${describeReach(metricsHost)}, without credentials`,
  };
}

function describeMailboxReaders({ publicHost, publicUrl, email, sms }: Settings): string {
  return email.captures || sms.captures
    ? describeReaders({ publicHost, publicUrl })
    : `${describeReaders({ publicHost, publicUrl })}; email to the simulator`;
}

function describeReaders({ publicHost, publicUrl }: Pick<Settings, 'publicHost' | 'publicUrl'>): string {
  if (publicHost) return "an OWNER's session: the email of their own projects";
  if (isLoopbackHost(new URL(publicUrl).hostname)) return 'anyone on this machine';
  return "anyone on this machine; through PUBLIC_URL an OWNER's session";
}

function describeSignup({ signup }: Settings): string {
  return { on: 'anyone may sign up', first: 'only the first user may sign up', off: 'no one may sign up' }[signup];
}

function describeReach(host: string): string {
  return isLoopbackHost(host) ? 'this machine' : 'any machine';
}

function formatHostAndPort(host: string, port: number): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
