import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { callerNetwork, plainAddress } from '../rules/access/caller-address.ts';
import { handOverPaths } from './smtp-path.ts';

/** Sessions that one address, of IPv6 one /64, may have at a time. */
const SESSIONS_PER_ADDRESS = 10;
/** Share of the sessions that stays free for addresses without a session. */
const KEPT_FOR_OTHERS = 0.1;
/** Time for a refused client to read the reason. */
const REFUSED_MS = 1_000;

/** The places of a listener, and who has them. */
export interface SessionPlaces {
  /** Takes a session for this address, to be released once. Undefined if none is free for it. */
  take(address: string): { leave(): void } | undefined;
}

/**
 * Limits sessions so that no address can take all: some for each address, and the last ones for addresses without a
 * session.
 */
function createSessionPlaces(total: number): SessionPlaces {
  const sessions = new Map<string, number>();
  const shared = total - Math.ceil(total * KEPT_FOR_OTHERS);
  let taken = 0;
  return {
    take(address) {
      const network = callerNetwork(address);
      const own = sessions.get(network) ?? 0;
      if (own >= SESSIONS_PER_ADDRESS || taken >= (own > 0 ? shared : total)) return undefined;
      sessions.set(network, own + 1);
      taken += 1;
      const leave = () => {
        const left = (sessions.get(network) ?? 1) - 1;
        if (left > 0) sessions.set(network, left);
        else sessions.delete(network);
        taken -= 1;
      };
      return { leave };
    },
  };
}

/**
 * An SMTP server that replies 421 to sessions beyond its limit (`createSessionPlaces`). They are refused before they
 * become a session of the library, which counts ending sessions too, so a flood takes no session from others.
 */
export class LimitedSmtpServer extends SMTPServer {
  readonly #places: SessionPlaces;
  /**
   * By the id of the session. The library removes listeners from a socket that starts TLS, so its own event reports
   * the end.
   */
  readonly #sessions = new Map<string, { socket: Socket; leave(): void }>();

  constructor({ places, ...options }: Omit<SMTPServerOptions, 'maxClients' | 'onClose'> & { places: number }) {
    super(options);
    this.#places = createSessionPlaces(places);
  }

  override connect(socket: Socket, options?: Parameters<SMTPServer['connect']>[1]): void {
    const place = this.#places.take(plainAddress(socket.remoteAddress ?? '') ?? '');
    if (!place) {
      refuse(socket);
      return;
    }
    super.connect(socket, options);
    const connection = [...this.connections].at(-1);
    if (!connection) return;
    handOverPaths(connection);
    nameSizeRefusal(connection);
    this.#sessions.set(connection.id, { socket, ...place });
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

/** The connection of `smtp-server`, as far as its replies go. */
interface Replier {
  send(code: number, text?: string | string[] | null, context?: string | false): void;
}

/**
 * Adds the enhanced code to the library's refusal of an announced size (RFC 1870 §6.1, RFC 3463 §3.4). The library
 * adds enhanced codes to all replies or to none, and the other replies are ours (listener.ts).
 */
function nameSizeRefusal(connection: Replier): void {
  const send = connection.send.bind(connection);
  connection.send = (code, text, context) =>
    send(code, code === 552 && typeof text === 'string' && !/^5\./.test(text) ? `5.3.4 ${text}` : text, context);
}

function refuse(socket: Socket): void {
  const late = setTimeout(() => socket.destroy(), REFUSED_MS);
  socket.on('error', () => {}).once('close', () => clearTimeout(late));
  socket.resume();
  socket.end('421 4.7.0 Too many sessions at a time, try again later\r\n');
}
