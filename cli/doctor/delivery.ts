import { createSocket } from 'node:dgram';
import { connect, isIP, type Socket } from 'node:net';
import { isPublicAddress } from '../../channels/public-address.ts';
import { reasonOf } from '../database-error.ts';
import { type Handover, handoverOf } from './relay.ts';
import { type Check, type Finding, fail, pass, warn } from './report.ts';
import type { Subject } from './subject.ts';

const CONNECT_MS = 3_000;
const DNS_MS = 3_000;
const SMTP_PORT = 25;
/** Large providers that are always reachable and accept connections from anywhere. Nothing is sent to them. */
const RECEIVERS = ['gmail.com', 'outlook.com'];
/** A public address (Quad9's), to get the outgoing route from the kernel. No packet is sent to it. */
const FAR_AWAY = '9.9.9.9';
const BEHIND_NAT = 'say from which address mail leaves: npm run doctor -- --address 203.0.113.7';

/** Checks that receivers see a host with a name: reverse and forward DNS agree, and HELO uses that name. */
export const reverseNameCheck: Check = {
  name: 'PTR and HELO',
  async look(subject) {
    const handover = await handoverOf(subject);
    if (handover.to === 'nobody') return [pass('mail is captured: no receiver asks')];
    if (handover.to === 'provider') return [pass(`${handover.servers.owner}'s servers meet the receivers`)];
    if (handover.to === 'unknown') return [warn(`not known: ${handover.reason}`, 'check the host of SMTP_URL')];
    const address = subject.address ?? (await leavingAddress(handover));
    if (address === undefined || !isIP(address))
      return [warn('not known: there is no way out of this machine', BEHIND_NAT)];
    if (subject.address === undefined && !isPublicAddress(address)) {
      return [
        warn(`mail leaves from ${address}, which is behind a gateway whose address is not known here`, BEHIND_NAT),
      ];
    }
    return [await ofAddress(subject, address, handover.to), ...(await ofHelo(subject, address, handover))];
  },
};

/** Checks that this network allows outgoing email, if a server of our own sends it to the receivers. */
export const port25Check: Check = {
  name: 'port 25 out',
  async look(subject) {
    const handover = await handoverOf(subject);
    if (handover.to !== 'own') return [pass('not needed: email does not leave directly from this network')];
    const tried = await Promise.all(RECEIVERS.map((domain) => reach(subject, domain)));
    if (tried.some(({ reached }) => reached)) return [pass('receivers are reached')];
    const reasons = tried.map(({ says }) => says).join('; ');
    return [
      warn(
        `no receiver was reached: ${reasons}`,
        'ask the provider of this network to open port 25, or send by a relay on port 587 (SMTP_URL)',
      ),
    ];
  },
};

async function ofAddress({ dns }: Subject, address: string, whose: 'own' | 'foreign'): Promise<Finding> {
  const remedy =
    whose === 'own'
      ? `let the provider of ${address} set its reverse name, and publish that name with this address`
      : 'ask who runs the mail server of SMTP_URL; their way out may be another address';
  // For another operator's server, the address that receives email is known, but not the address that sends it.
  const problem = (says: string) => (whose === 'own' ? fail(says, remedy) : warn(says, remedy));
  const names = await withTimeLimit(dns.names(address)).catch((error: Error & { code?: string }) => error);
  if (names instanceof Error) {
    const absent = names.code === 'ENOTFOUND' || names.code === 'ENODATA';
    if (!absent)
      return warn(
        `the DNS did not answer for the name of ${address} (${reasonOf(names)})`,
        'look at the network or DNS_SERVERS',
      );
    return problem(`${address} has no reverse name (PTR): large receivers refuse its email`);
  }
  const forward = await Promise.all(names.map((name) => dns.addresses(name)));
  const agrees = names.find((_, index) => {
    const answer = forward[index];
    return answer?.kind === 'found' && answer.records.includes(address);
  });
  if (agrees) return pass(`${address} is ${agrees}, and ${agrees} is ${address}`);
  return problem(`${address} is called ${names.join(', ')}, which does not lead back to it`);
}

/** By default, a server uses the same name in its greeting as in its HELO to receivers. */
async function ofHelo({ dns }: Subject, address: string, handover: Handover): Promise<Finding[]> {
  if (handover.to !== 'own') return [];
  const { host, port, implicitTls } = handover.endpoint;
  if (implicitTls) return [];
  const greeting = await withTimeLimit(greetingOf(host, port)).catch(() => undefined);
  const name = /^220[ -](\S+)/.exec(greeting ?? '')?.[1]?.toLowerCase();
  if (name === undefined) return [warn(`${host}:${port} did not greet, so its HELO is not known`, 'check SMTP_URL')];
  const remedy = `let it call itself by a name that leads to ${address} (Postfix: myhostname)`;
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(name) || isIP(name))
    return [fail(`the mail server calls itself ${name}, which is not a full name`, remedy)];
  const answer = await dns.addresses(name);
  if (answer.kind === 'fault')
    return [warn(`the DNS did not answer for ${name}: ${answer.reason}`, 'look at the network or DNS_SERVERS')];
  if (answer.kind === 'found' && answer.records.includes(address))
    return [pass(`the mail server calls itself ${name}, which is ${address}`)];
  return [warn(`the mail server calls itself ${name}, which is not ${address}`, remedy)];
}

/** Returns the outgoing address of our own server, or the address of another operator's server. */
async function leavingAddress(handover: Extract<Handover, { addresses: unknown }>): Promise<string | undefined> {
  return handover.to === 'foreign' ? handover.addresses.find(isPublicAddress) : wayOut();
}

function wayOut(): Promise<string | undefined> {
  const socket = createSocket('udp4');
  return new Promise<string | undefined>((resolve) => {
    socket.on('error', () => resolve(undefined));
    socket.connect(SMTP_PORT, FAR_AWAY, () => resolve(socket.address().address));
  }).finally(() => socket.close());
}

async function reach({ dns }: Subject, domain: string): Promise<{ reached: boolean; says: string }> {
  const mx = await dns.mx(domain);
  if (mx.kind !== 'found') {
    return { reached: false, says: `the DNS knows no MX of ${domain}${mx.kind === 'fault' ? `: ${mx.reason}` : ''}` };
  }
  const [first] = [...mx.records].sort((a, b) => a.priority - b.priority);
  const addresses = await dns.addresses(first?.exchange ?? '');
  const address = addresses.kind === 'found' ? addresses.records.find((each) => isIP(each) === 4) : undefined;
  if (!address) return { reached: false, says: `the DNS knows no address of ${first?.exchange}` };
  const problem = await tryConnect(address);
  return { reached: problem === undefined, says: `${first?.exchange} ${problem}` };
}

/** Returns why a connection to port 25 failed. Undefined if it succeeded. */
function tryConnect(address: string): Promise<string | undefined> {
  const socket = connect({ host: address, port: SMTP_PORT, timeout: CONNECT_MS });
  return new Promise<string | undefined>((resolve) => {
    socket.on('connect', () => resolve(undefined));
    socket.on('timeout', () => resolve(`did not answer in ${CONNECT_MS / 1000} s`));
    socket.on('error', (error) => resolve(`could not be reached (${reasonOf(error)})`));
  }).finally(() => socket.destroy());
}

function greetingOf(host: string, port: number): Promise<string> {
  const socket: Socket = connect({ host, port });
  return new Promise<string>((resolve, reject) => {
    socket.setEncoding('latin1').once('data', (text: string) => resolve(text));
    socket.on('error', reject);
  }).finally(() => socket.destroy());
}

function withTimeLimit<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), DNS_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
