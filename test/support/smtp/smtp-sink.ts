import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import type { Certificate } from '../certificate.ts';

/** The envelope and the Message-ID of an accepted message. */
export interface SunkMessage {
  /** The envelope sender. */
  from: string;
  to: string;
  messageId: string;
}

export interface SmtpSinkOptions {
  /** The port; 0 (default) uses a free port. */
  port?: number;
  /** EHLO keywords besides PIPELINING, 8BITMIME and SMTPUTF8, such as `SIZE 1000`. */
  keywords?: string[];
  /** False offers no PIPELINING, and disconnects a client that pipelines. The default is true. */
  pipelining?: boolean;
  /** Milliseconds of delay before each packet's reply, like a round trip. */
  latencyMs?: number;
  /**
   * Returns the milliseconds that a connection waits before the reply to its next packet. It is called for each packet,
   * so a test can slow the server down.
   */
  pauseMs?: () => number;
  /** Stores the envelope and the Message-ID of every message (default true). */
  record?: boolean;
  /** Stores whole messages for `bodies` as received, with doubled dots at line starts (default false). */
  keepBodies?: boolean;
  /**
   * Returns the reply to RCPT, or null for 250. By default the local part of the address selects the reply:
   * `reject550-5.1.1…`, `defer450-4.2.1…`, `reject550…` (no enhanced code), `hangup…` (closes the connection),
   * `close421…`.
   */
  replyToRcpt?: (to: string) => string | null;
  /** Returns the reply to a whole message, or null for 250. `hangup` closes the connection without a reply. */
  replyToMessage?: (to: string, n: number) => string | 'hangup' | null;
  /** Returns the reply to DATA, or null for 354. `hangup` closes the connection without a reply. */
  replyToData?: (to: string) => string | 'hangup' | null;
  /** Offers STARTTLS with this key and certificate. */
  tls?: Certificate;
  /** Offers AUTH PLAIN. Returns the reply to it, or null for 235. */
  replyToAuth?: () => string | null;
}

export interface SinkCounts {
  connections: number;
  messages: number;
  bytes: number;
  refused: number;
  /** The number of connections that have become encrypted. */
  encrypted: number;
  /** The number of encrypted connections that continued an earlier TLS session. */
  resumed: number;
}

const NO_COUNTS: SinkCounts = { connections: 0, messages: 0, bytes: 0, refused: 0, encrypted: 0, resumed: 0 };

/**
 * An SMTP server that accepts email and discards it. For speed, it reads each byte once, and writes once for each
 * packet.
 */
export interface SmtpSink {
  readonly port: number;
  readonly url: string;
  readonly counts: SinkCounts;
  /** Accepted messages in order of arrival, if `record` is on. */
  readonly messages: SunkMessage[];
  readonly bodies: string[];
  /** All command lines, if `keepBodies` is on. */
  readonly commands: string[];
  /** Returns the number of messages that each recipient got. */
  perRecipient(): Map<string, number>;
  reset(): void;
  /** Closes all connections immediately, like a killed server. */
  dropAll(): void;
  close(): Promise<void>;
}

/** Starts a sink on 127.0.0.1. */
export async function startSmtpSink(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const state: SinkState = {
    options: { pipelining: true, record: true, keepBodies: false, latencyMs: 0, ...options },
    counts: { ...NO_COUNTS },
    messages: [],
    bodies: [],
    commands: [],
    secure: options.tls && tls.createSecureContext(options.tls),
  };
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    state.counts.connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    serveConnection(socket, state);
    socket.write('220 sink ESMTP\r\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as net.AddressInfo;
  const dropAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    counts: state.counts,
    messages: state.messages,
    bodies: state.bodies,
    commands: state.commands,
    perRecipient: () => countByRecipient(state.messages),
    reset: () => resetState(state),
    dropAll,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        dropAll();
      }),
  };
}

/** Returns the reply that a local part asks for, see `replyToRcpt`. */
export function replyByLocalPart(to: string): string | null {
  if (to.startsWith('hangup')) return 'hangup';
  const match = /^(?:reject|defer|close)([245]\d\d)(?:-(\d\.\d+\.\d+))?/.exec(to);
  if (!match) return null;
  const [, code, enhanced] = match;
  return enhanced ? `${code} ${enhanced} <${to}>: as asked` : `${code} as asked`;
}

interface SinkState {
  options: SmtpSinkOptions & { pipelining: boolean; record: boolean; keepBodies: boolean; latencyMs: number };
  counts: SinkCounts;
  messages: SunkMessage[];
  bodies: string[];
  commands: string[];
  /** Undefined if the sink does not offer STARTTLS. */
  secure: tls.SecureContext | undefined;
}

/** One connection. Commands are read line by line; a body is only searched for its end. */
function serveConnection(socket: net.Socket, state: SinkState): void {
  const { options, counts } = state;
  let rest = '';
  let out = '';
  let from: string | null = null;
  let to: string | null = null;
  let inBody = false;
  let messageId: string | null = null;
  let head = '';
  let body: string[] = [];
  let resting = 0;
  let last: Promise<unknown> = Promise.resolve();

  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('data', receive);

  function receive(chunk: Buffer): void {
    counts.bytes += chunk.length;
    let text = rest + chunk.toString('latin1');
    rest = '';
    let at = 0;
    while (at < text.length) {
      if (inBody) {
        // The end may be split over two packets, so the last four characters of an incomplete body are checked again
        // with the next packet.
        const end = text.startsWith('.\r\n', at) && head === '' ? at : text.indexOf('\r\n.\r\n', at);
        if (end === -1) {
          const keep = Math.max(at, text.length - 4);
          takeBodyPart(text.slice(at, keep));
          rest = text.slice(keep);
          text = '';
          break;
        }
        takeBodyPart(text.slice(at, end + 2));
        at = end + (text.startsWith('.\r\n', end) ? 3 : 5);
        inBody = false;
        if (!handleMessageEnd()) return;
      } else {
        const end = text.indexOf('\r\n', at);
        if (end === -1) {
          rest = text.slice(at);
          break;
        }
        const line = text.slice(at, end);
        at = end + 2;
        if (!options.pipelining && at < text.length) {
          socket.destroy();
          return;
        }
        if (!handleCommand(line)) return;
      }
    }
    flush();
  }

  function takeBodyPart(part: string): void {
    if (options.keepBodies) body.push(part);
    if (!options.record || messageId !== null) {
      head ||= 'seen';
      return;
    }
    head += part;
    messageId = parseMessageId(head);
  }

  /** Replies to the end of a message. Returns false if the connection is closed. */
  function handleMessageEnd(): boolean {
    const reply = options.replyToMessage?.(to ?? '', counts.messages + 1) ?? null;
    if (reply === 'hangup') return hangUp();
    if (reply === null) {
      counts.messages += 1;
      if (options.record) state.messages.push({ from: from ?? '', to: to ?? '', messageId: messageId ?? '' });
      if (options.keepBodies) state.bodies.push(body.join(''));
    } else counts.refused += 1;
    from = null;
    to = null;
    out += `${reply ?? `250 2.0.0 Ok: queued as ${counts.messages.toString(36)}`}\r\n`;
    return reply?.startsWith('421') ? hangUp() : true;
  }

  /** Replies to a command. Returns false if the connection is closed. */
  function handleCommand(line: string): boolean {
    if (options.keepBodies) state.commands.push(line);
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'MAIL') {
      out += from === null ? '250 2.1.0 Ok\r\n' : '503 5.5.1 Error: nested MAIL command\r\n';
      from ??= parseAddress(line);
    } else if (verb === 'RCPT') return handleRecipient(parseAddress(line));
    else if (verb === 'DATA') return handleData();
    else if (verb === 'RSET') {
      from = null;
      to = null;
      out += '250 2.0.0 Ok\r\n';
    } else if (verb === 'EHLO') out += formatEhloReply(options, canStartTls(socket, state));
    else if (verb === 'STAR' && canStartTls(socket, state)) return startTls();
    else if (verb === 'AUTH' && options.replyToAuth) out += `${options.replyToAuth() ?? '235 2.7.0 Ok'}\r\n`;
    else if (verb === 'HELO' || verb === 'NOOP') out += '250 2.0.0 Ok\r\n';
    else if (verb === 'QUIT') {
      out += '221 2.0.0 Bye\r\n';
      flush();
      socket.end();
      return false;
    } else out += '502 5.5.2 Error: command not recognized\r\n';
    return true;
  }

  function handleRecipient(address: string): boolean {
    if (from === null) {
      out += '503 5.5.1 Error: need MAIL command\r\n';
      return true;
    }
    const reply = (options.replyToRcpt ?? replyByLocalPart)(address);
    if (reply === 'hangup') return hangUp();
    if (reply === null) to = address;
    else counts.refused += 1;
    out += `${reply ?? '250 2.1.5 Ok'}\r\n`;
    return reply?.startsWith('421') ? hangUp() : true;
  }

  function handleData(): boolean {
    const reply = to === null ? '554 5.5.1 Error: no valid recipients' : (options.replyToData?.(to) ?? null);
    if (reply === 'hangup') return hangUp();
    if (reply === null) {
      inBody = true;
      head = '';
      messageId = null;
      body = [];
    }
    out += `${reply ?? '354 End data with <CR><LF>.<CR><LF>'}\r\n`;
    return true;
  }

  /** Starts a new session on the encrypted socket. Returns false, because the session without encryption ends. */
  function startTls(): false {
    out += '220 2.0.0 Ready to start TLS\r\n';
    flush();
    socket.off('data', receive);
    const encrypted = new tls.TLSSocket(socket, { isServer: true, secureContext: state.secure });
    encrypted.once('secure', () => {
      counts.encrypted += 1;
      if (encrypted.isSessionReused()) counts.resumed += 1;
    });
    serveConnection(encrypted, state);
    return false;
  }

  /** Sends the remaining replies, and then closes the connection. */
  function hangUp(): false {
    if (out) socket.end(out, 'latin1');
    else socket.destroy();
    out = '';
    return false;
  }

  function flush(): void {
    if (out === '') return;
    const reply = out;
    out = '';
    const pauseMs = options.pauseMs?.() ?? 0;
    if (pauseMs > 0 || resting > 0) sendReplyAfter(reply, pauseMs);
    else if (options.latencyMs > 0)
      setTimeout(() => socket.writable && socket.write(reply, 'latin1'), options.latencyMs);
    else socket.write(reply, 'latin1');
  }

  /** Sends a reply after a pause. The replies stay in order. */
  function sendReplyAfter(reply: string, pauseMs: number): void {
    resting += 1;
    last = last
      .then(() => sleep(pauseMs))
      .then(() => {
        resting -= 1;
        if (socket.writable) socket.write(reply, 'latin1');
      });
  }
}

function canStartTls(socket: net.Socket, { secure }: SinkState): boolean {
  return secure !== undefined && !(socket instanceof tls.TLSSocket);
}

function formatEhloReply(options: SinkState['options'], offersStartTls: boolean): string {
  const lines = ['sink', '8BITMIME', 'SMTPUTF8', ...(options.keywords ?? [])];
  if (options.replyToAuth) lines.push('AUTH PLAIN');
  if (options.pipelining) lines.push('PIPELINING');
  if (offersStartTls) lines.push('STARTTLS');
  return lines.map((line, i) => `250${i === lines.length - 1 ? ' ' : '-'}${line}\r\n`).join('');
}

function parseAddress(line: string): string {
  return line.slice(line.indexOf('<') + 1, line.indexOf('>'));
}

function parseMessageId(head: string): string | null {
  const start = head.search(/^message-id:/im);
  if (start === -1) return null;
  const end = head.indexOf('\r\n', start);
  return end === -1 ? null : head.slice(start + 11, end).trim();
}

function countByRecipient(messages: SunkMessage[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { to } of messages) counts.set(to, (counts.get(to) ?? 0) + 1);
  return counts;
}

function resetState(state: SinkState): void {
  Object.assign(state.counts, NO_COUNTS);
  state.messages.length = 0;
  state.bodies.length = 0;
  state.commands.length = 0;
}
