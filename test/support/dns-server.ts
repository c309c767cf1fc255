import { createSocket, type RemoteInfo } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import dnsPacket from 'dns-packet';

const NXDOMAIN = 3;
const SERVFAIL = 2;

/**
 * DNS records of one name, by type. An MX record is written as `10 mail.example`. A missing type gives an empty
 * response.
 */
export type Zone = Partial<Record<'A' | 'AAAA' | 'NS' | 'MX' | 'TXT' | 'PTR', string[]>>;

export interface DnsServer {
  /** Value for DNS_SERVERS. */
  address: string;
  /** Zones by name in lower case. `fault` responds SERVFAIL, and `silent` never responds. Other names do not exist. */
  zones: Map<string, Zone | 'fault' | 'silent'>;
  /** The questions in order, each as `TYPE name`. */
  questions: string[];
  close(): Promise<void>;
}

/** Starts a DNS server on loopback with records in memory. */
export async function startDnsServer(zones: Record<string, Zone | 'fault' | 'silent'> = {}): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const server: DnsServer = {
    address: '',
    zones: new Map(Object.entries(zones)),
    questions: [],
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
  socket.on('message', (message, from) => respond(socket, server, message, from));
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  server.address = `127.0.0.1:${(socket.address() as AddressInfo).port}`;
  return server;
}

function respond(
  socket: ReturnType<typeof createSocket>,
  { zones, questions }: DnsServer,
  message: Buffer,
  from: RemoteInfo,
): void {
  const query = dnsPacket.decode(message);
  const [question] = query.questions ?? [];
  if (!question) return;
  questions.push(`${question.type} ${question.name}`);
  const zone = zones.get(question.name.toLowerCase());
  if (zone === 'silent') return;
  const records = zone === undefined || zone === 'fault' ? [] : (zone[question.type as keyof Zone] ?? []);
  const code = zone === undefined ? NXDOMAIN : zone === 'fault' ? SERVFAIL : 0;
  const answers = records.map((text) => ({
    type: question.type,
    name: question.name,
    ttl: 1,
    data: toRecordData(question.type, text),
  }));
  const packet = {
    id: query.id ?? 0,
    type: 'response' as const,
    flags: dnsPacket.AUTHORITATIVE_ANSWER | code,
    questions: [question],
    answers,
  };
  socket.send(dnsPacket.encode(packet), from.port, from.address);
}

function toRecordData(type: string, text: string): unknown {
  if (type === 'TXT') return text.match(/.{1,255}/gs) ?? [''];
  if (type !== 'MX') return text;
  const [preference, exchange] = text.split(' ');
  return { preference: Number(preference), exchange };
}
