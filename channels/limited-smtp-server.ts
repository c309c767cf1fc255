import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { callerNetwork, plainAddress } from '../rules/access/caller-address.ts';
import { handOverPaths } from './smtp-path.ts';

/** Sessions that one address, of IPv6 one /64, may have at a time. */
const SESSIONS_PER_ADDRESS = 10;
/** Of the places, what stays free for addresses that have none. */
const KEPT_FOR_OTHERS = 0.1;
/** Who was refused gets this long to read why. */
const REFUSED_MS = 1_000;

/** The places of a listener, and who has them. */
export interface SessionPlaces {
  /** A place for a session of this address, to be given back once; undefined where there is none for it. */
  take(address: string): { leave(): void } | undefined;
}

/** Places that nobody can take all of: some for each address, and the last ones for those who have none. */
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
 * An SMTP server that answers 421 to sessions beyond its places (`createSessionPlaces`). They are refused before they
 * are a session of the library, which counts those that are ending as well: however many come, they take nobody's
 * place.
 */
export class LimitedSmtpServer extends SMTPServer {
  readonly #places: SessionPlaces;
  /**
   * By the id of the session. The library takes listeners off a socket that begins TLS, so its own word is what tells
   * of the end.
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

  /** Ends every session, once what was answered is written. */
  hangUp(): void {
    for (const { socket } of this.#sessions.values()) socket.destroySoon();
  }
}

/** The connection of `smtp-server`, as far as its replies go. */
interface Replier {
  send(code: number, text?: string | string[] | null, context?: string | false): void;
}

/**
 * Gives the library's refusal of an announced size its enhanced code (RFC 1870 §6.1, RFC 3463 §3.4). The library has
 * enhanced codes for all replies or for none, and those of others are ours (listener.ts).
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
