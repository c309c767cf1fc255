import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerAddress, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { parseIpAddress, toCallerNetwork } from '../rules/access/caller-address.ts';
import { passPathsUnchanged } from './smtp-path.ts';

/** The maximum number of concurrent sessions per IPv4 address, or per /64 network for IPv6. */
const SESSIONS_PER_ADDRESS = 10;
/** The share of all sessions that is reserved for addresses that have no session yet. */
const RESERVED_SHARE = 0.1;
/** The time that a refused client has to read the reply before the socket is destroyed. */
const REFUSED_MS = 1_000;

/** The session slots of a listener. */
export interface SessionSlots {
  /**
   * Takes a slot for this address. Returns an object whose `leave` releases the slot, or undefined if no slot is free
   * for this address.
   */
  take(address: string): { leave(): void } | undefined;
}

/**
 * Creates the session slots. No address can take all slots: each address may have only a few, and the last slots are
 * reserved for addresses that have no session yet.
 */
function createSessionSlots(total: number): SessionSlots {
  const sessions = new Map<string, number>();
  const shared = total - Math.ceil(total * RESERVED_SHARE);
  let taken = 0;
  return {
    take(address) {
      const network = toCallerNetwork(address);
      const ofNetwork = sessions.get(network) ?? 0;
      if (ofNetwork >= SESSIONS_PER_ADDRESS || taken >= (ofNetwork > 0 ? shared : total)) return undefined;
      sessions.set(network, ofNetwork + 1);
      taken += 1;
      const leave = () => {
        const remaining = (sessions.get(network) ?? 1) - 1;
        if (remaining > 0) sessions.set(network, remaining);
        else sessions.delete(network);
        taken -= 1;
      };
      return { leave };
    },
  };
}

/**
 * An SMTP server that replies 421 to sessions beyond its limit (`createSessionSlots`). The server refuses a connection
 * before the library creates a session for it. The library's own limit would also count refused sessions until they
 * have ended, so a flood of connections would take slots from other clients.
 */
export class LimitedSmtpServer extends SMTPServer {
  readonly #slots: SessionSlots;
  /**
   * The functions that release slots, by session id. The server calls these functions in `onClose` and not in a
   * listener of the socket, because the library removes such listeners when a socket starts TLS.
   */
  readonly #sessions = new Map<string, { socket: Socket; leave(): void }>();

  constructor({
    sessionsMax,
    ...options
  }: Omit<SMTPServerOptions, 'maxClients' | 'onClose'> & { sessionsMax: number }) {
    super(options);
    this.onMailFrom = requireKnownParameters(this.onMailFrom, listMailParameters(options));
    this.onRcptTo = requireKnownParameters(this.onRcptTo, []);
    this.#slots = createSessionSlots(sessionsMax);
  }

  override connect(socket: Socket, options?: Parameters<SMTPServer['connect']>[1]): void {
    const slot = this.#slots.take(parseIpAddress(socket.remoteAddress ?? '') ?? '');
    if (!slot) {
      refuseConnection(socket);
      return;
    }
    super.connect(socket, options);
    const connection = [...this.connections].at(-1);
    if (!connection) return;
    passPathsUnchanged(connection);
    addCodeToSizeRefusal(connection);
    this.#sessions.set(connection.id, { socket, ...slot });
  }

  override onClose({ id }: SMTPServerSession): void {
    this.#sessions.get(id)?.leave();
    this.#sessions.delete(id);
  }

  /** Ends every session once its last reply is written. */
  hangUp(): void {
    for (const { socket } of this.#sessions.values()) socket.destroySoon();
  }
}

/**
 * Returns the parameters of MAIL that clients may use: the parameters of the extensions that the reply to EHLO
 * announces. The reply does not announce DSN and REQUIRETLS (the library's default). The service sends no delivery
 * reports, and cannot require TLS from the servers that receive its email.
 */
function listMailParameters(options: SMTPServerOptions): string[] {
  const utf8 = options.hideSMTPUTF8 ? [] : ['SMTPUTF8'];
  return ['SIZE', 'BODY', ...utf8, ...(options.onAuth ? ['AUTH'] : [])];
}

type PathHandler = (
  address: SMTPServerAddress,
  session: SMTPServerSession,
  done: (error?: Error | null) => void,
) => void;

/**
 * Wraps a handler of MAIL or RCPT, so that it replies 555 to parameters that are not `known` (RFC 5321 §4.1.1.11). The
 * library would accept and ignore unknown parameters, and the client would believe that the server follows them.
 */
function requireKnownParameters(handle: PathHandler, known: string[]): PathHandler {
  return (address, session, done) => {
    const unknown = Object.keys(address.args || {}).find((name) => !known.includes(name));
    if (unknown === undefined) return handle(address, session, done);
    const text = `5.5.4 Parameter ${unknown.slice(0, 40)} is not supported, see the reply to EHLO`;
    done(Object.assign(new Error(text), { responseCode: 555 }));
  };
}

/** A connection of the library `smtp-server`. Only its method that sends a reply is declared. */
interface Replier {
  send(code: number, text?: string | string[] | null, context?: string | false): void;
}

/**
 * Adds the enhanced code to the library's reply 552, which refuses a message that announces a size over the limit (RFC
 * 1870 §6.1, RFC 3463 §3.4). The library can add enhanced codes only to all replies or to none, and the replies of our
 * handlers already have them.
 */
function addCodeToSizeRefusal(connection: Replier): void {
  const send = connection.send.bind(connection);
  connection.send = (code, text, context) =>
    send(code, code === 552 && typeof text === 'string' && !/^5\./.test(text) ? `5.3.4 ${text}` : text, context);
}

function refuseConnection(socket: Socket): void {
  const destroyTimer = setTimeout(() => socket.destroy(), REFUSED_MS);
  socket.on('error', () => {}).once('close', () => clearTimeout(destroyTimer));
  socket.resume();
  socket.end('421 4.7.0 Too many sessions at a time, try again later\r\n');
}
