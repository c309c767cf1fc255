import { createSocket } from 'node:dgram';
import { connect, isIP, type Socket } from 'node:net';
import { isPublicAddress } from '../../channels/public-address.ts';
import { findInnermostReason } from '../database-error.ts';
import type { Deployment } from './deployment.ts';
import { findMailServer, type Handover } from './relay.ts';
import { type DoctorCheck, type DoctorFinding, failFinding, passFinding, warnFinding } from './report.ts';

const CONNECT_MS = 3_000;
const DNS_MS = 3_000;
const SMTP_PORT = 25;
/**
 * Domains of mailbox providers whose mail servers practically always accept connections from anywhere. The check only
 * connects and sends no email.
 */
const RECEIVERS = ['gmail.com', 'outlook.com'];
/**
 * A public address (of Quad9). The kernel reports which local address a connection to this address would use. No packet
 * is sent to this address.
 */
const FAR_AWAY = '9.9.9.9';
const BEHIND_NAT = 'give the address that sends email: npm run doctor -- --address 203.0.113.7';

/**
 * Checks the names of the IP address that sends email. The reverse name (PTR) of the address must resolve to the
 * address. The name that our own mail server sends in HELO must also resolve to this address.
 */
export const reverseNameCheck: DoctorCheck = {
  name: 'PTR and HELO',
  async run(deployment) {
    const handover = await findMailServer(deployment);
    if (handover.to === 'nobody') return [passFinding('email is captured: not needed')];
    if (handover.to === 'provider')
      return [passFinding(`${handover.servers.owner}'s servers deliver to the receivers`)];
    if (handover.to === 'unknown') return [warnFinding(`not known: ${handover.reason}`, 'check the host of SMTP_URL')];
    const address = deployment.address ?? (await findOutgoingAddress(handover));
    if (address === undefined || !isIP(address))
      return [warnFinding('not known: this machine has no outgoing route', BEHIND_NAT)];
    if (deployment.address === undefined && !isPublicAddress(address)) {
      return [warnFinding(`email leaves from ${address}, behind a gateway with an unknown address`, BEHIND_NAT)];
    }
    return [
      await checkReverseName(deployment, address, handover.to),
      ...(await checkHelo(deployment, address, handover)),
    ];
  },
};

/**
 * If our own mail server sends email to the receivers, checks that this network allows outgoing connections to port 25.
 */
export const port25Check: DoctorCheck = {
  name: 'port 25 out',
  async run(deployment) {
    const handover = await findMailServer(deployment);
    if (handover.to !== 'own') return [passFinding('not needed: email does not leave directly from this network')];
    const tried = await Promise.all(RECEIVERS.map((domain) => connectToReceiver(deployment, domain)));
    if (tried.some(({ reached }) => reached)) return [passFinding('receivers are reachable')];
    const reasons = tried.map(({ message }) => message).join('; ');
    return [
      warnFinding(
        `no receiver is reachable: ${reasons}`,
        'ask the provider of this network to open port 25, or send by a relay on port 587 (SMTP_URL)',
      ),
    ];
  },
};

async function checkReverseName(
  { dns }: Deployment,
  address: string,
  whose: 'own' | 'foreign',
): Promise<DoctorFinding> {
  const remedy =
    whose === 'own'
      ? `ask the provider of ${address} to set its reverse name, and publish that name with this address`
      : 'ask the operator of the mail server of SMTP_URL: the server may send from another address';
  // For another operator's mail server, DNS shows only the address that accepts email. The server may send from another
  // address, so a problem with the address in the DNS is only a warning.
  const problem = (message: string) => (whose === 'own' ? failFinding(message, remedy) : warnFinding(message, remedy));
  const names = await withTimeLimit(dns.names(address)).catch((error: Error & { code?: string }) => error);
  if (names instanceof Error) {
    const hasNoName = names.code === 'ENOTFOUND' || names.code === 'ENODATA';
    if (!hasNoName)
      return warnFinding(
        `the DNS did not respond for the name of ${address} (${findInnermostReason(names)})`,
        'check the network and DNS_SERVERS',
      );
    return problem(`${address} has no reverse name (PTR): large receivers refuse its email`);
  }
  const forward = await Promise.all(names.map((name) => dns.addresses(name)));
  const confirmedName = names.find((_, index) => {
    const found = forward[index];
    return found?.kind === 'found' && found.records.includes(address);
  });
  if (confirmedName) return passFinding(`${address} and ${confirmedName} resolve to each other`);
  return problem(`${address} has the reverse name ${names.join(', ')}, which does not resolve to ${address}`);
}

/**
 * Checks the name in the greeting of our own mail server. By default, a server sends the same name in its HELO to
 * receivers.
 */
async function checkHelo({ dns }: Deployment, address: string, handover: Handover): Promise<DoctorFinding[]> {
  if (handover.to !== 'own') return [];
  const { host, port, implicitTls } = handover.endpoint;
  if (implicitTls) return [];
  const greeting = await withTimeLimit(readGreeting(host, port)).catch(() => undefined);
  const name = /^220[ -](\S+)/.exec(greeting ?? '')?.[1]?.toLowerCase();
  if (name === undefined)
    return [warnFinding(`${host}:${port} sent no greeting, so its HELO is not known`, 'check SMTP_URL')];
  const remedy = `give the mail server a name that resolves to ${address} (Postfix: myhostname)`;
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(name) || isIP(name))
    return [failFinding(`the mail server calls itself ${name}, which is not a full name`, remedy)];
  const found = await dns.addresses(name);
  if (found.kind === 'fault')
    return [warnFinding(`the DNS did not respond for ${name}: ${found.reason}`, 'check the network and DNS_SERVERS')];
  if (found.kind === 'found' && found.records.includes(address))
    return [passFinding(`the mail server calls itself ${name}, which resolves to ${address}`)];
  return [warnFinding(`the mail server calls itself ${name}, which does not resolve to ${address}`, remedy)];
}

/**
 * Returns the IP address from which email is sent: the outgoing address of this network for our own server, or the
 * address in the DNS for the server of another operator.
 */
async function findOutgoingAddress(handover: Extract<Handover, { addresses: unknown }>): Promise<string | undefined> {
  return handover.to === 'foreign' ? handover.addresses.find(isPublicAddress) : findOwnOutgoingAddress();
}

function findOwnOutgoingAddress(): Promise<string | undefined> {
  const socket = createSocket('udp4');
  return new Promise<string | undefined>((resolve) => {
    socket.on('error', () => resolve(undefined));
    socket.connect(SMTP_PORT, FAR_AWAY, () => resolve(socket.address().address));
  }).finally(() => socket.close());
}

async function connectToReceiver({ dns }: Deployment, domain: string): Promise<{ reached: boolean; message: string }> {
  const mx = await dns.mx(domain);
  if (mx.kind !== 'found') {
    return { reached: false, message: `the DNS has no MX of ${domain}${mx.kind === 'fault' ? `: ${mx.reason}` : ''}` };
  }
  const [first] = [...mx.records].sort((a, b) => a.priority - b.priority);
  const addresses = await dns.addresses(first?.exchange ?? '');
  const address = addresses.kind === 'found' ? addresses.records.find((each) => isIP(each) === 4) : undefined;
  if (!address) return { reached: false, message: `the DNS has no address of ${first?.exchange}` };
  const problem = await tryConnect(address);
  return { reached: problem === undefined, message: `${first?.exchange} ${problem}` };
}

/** Returns why a connection to port 25 failed. Undefined if it succeeded. */
function tryConnect(address: string): Promise<string | undefined> {
  const socket = connect({ host: address, port: SMTP_PORT, timeout: CONNECT_MS });
  return new Promise<string | undefined>((resolve) => {
    socket.on('connect', () => resolve(undefined));
    socket.on('timeout', () => resolve(`did not respond in ${CONNECT_MS / 1000} s`));
    socket.on('error', (error) => resolve(`could not be reached (${findInnermostReason(error)})`));
  }).finally(() => socket.destroy());
}

function readGreeting(host: string, port: number): Promise<string> {
  const socket: Socket = connect({ host, port });
  return new Promise<string>((resolve, reject) => {
    socket.setEncoding('latin1').once('data', (text: string) => resolve(text));
    socket.on('error', reject);
  }).finally(() => socket.destroy());
}

function withTimeLimit<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no response in time')), DNS_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
