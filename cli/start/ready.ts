import { formatOpenPorts, type OpenPort } from './exposure.ts';

/** Facts that a started service prints about itself. */
export interface ReadyService {
  baseUrl: string;
  /**
   * A link that opens the dashboard and signs in, once. Undefined if other machines may reach the service, or if the
   * project has no owner.
   */
  signInLink: string | undefined;
  signInMinutes: number;
  hasDashboard: boolean;
  mailboxUrl: string | undefined;
  temporalUi: string | null;
  relay: string | undefined;
  inbound: string | undefined;
  /**
   * The values of a request that sends a first email. Undefined if other machines may reach the service, because then
   * other people could read the key in the output of `npm start`.
   */
  firstEmail: { secretKey: string; from: string } | undefined;
  devFile: string;
  /** The open ports. They are printed only if other machines can reach the service, and are otherwise undefined. */
  openPorts: readonly OpenPort[] | undefined;
}

/** Returns the lines at the end of `npm start`: the addresses, and a command that sends a first email. */
export function formatReadyLines(service: ReadyService): string[] {
  return [
    `Tidings is ready at ${service.baseUrl}`,
    '',
    ...formatAddressLines(service),
    '',
    ...(service.firstEmail
      ? formatFirstEmailLines(service.baseUrl, service.firstEmail)
      : formatKeyLines(service.devFile)),
    ...(service.openPorts ? ['', ...formatOpenPorts(service.openPorts).map(indent)] : []),
  ];
}

function formatAddressLines(service: ReadyService): string[] {
  const { baseUrl, signInLink, signInMinutes, hasDashboard, mailboxUrl, temporalUi, relay, inbound } = service;
  const signIn = signInLink && `signs you in once, within ${signInMinutes} minutes`;
  const rows: [name: string, address: string | null | undefined, note?: string][] = [
    ['Dashboard', hasDashboard ? (signInLink ?? `${baseUrl}/app`) : undefined, signIn],
    ['Mailbox', mailboxUrl],
    ['API', `${baseUrl}/docs`],
    ['Temporal UI', temporalUi],
    ['SMTP relay', relay],
    ['Inbound', inbound],
  ];
  const shown = rows.filter(([, address]) => address);
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, address, note]) => indent(`${name.padEnd(width)}  ${address}${note ? `  (${note})` : ''}`));
}

function formatFirstEmailLines(baseUrl: string, { secretKey, from }: { secretKey: string; from: string }): string[] {
  const email = { to: 'you@example.com', from, subject: 'Hello', body: '<p>A first email.</p>' };
  return [
    'Send a first email:',
    `  curl -s ${baseUrl}/v1/send \\`,
    `    -H 'Authorization: Bearer ${secretKey}' \\`,
    `    -H 'Content-Type: application/json' \\`,
    `    -d '${JSON.stringify(email)}'`,
  ].map(indent);
}

function formatKeyLines(devFile: string): string[] {
  return [indent(`The keys and the owner's password are in ${devFile}.`)];
}

function indent(line: string): string {
  return line === '' ? line : `  ${line}`;
}
