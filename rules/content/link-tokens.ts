import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { createIdMac, type IdMac } from '../access/id-mac.ts';
import type { ContactUrls } from './variables.ts';

/** The length of a token: 16 bytes of id and 16 bytes of MAC, as base64url. */
export const LINK_TOKEN_CHARS = 43;

const ID_BYTES = 16;
const MAC_BYTES = 16;
/**
 * Matches a token at the start of a text. Other characters than letters and digits may follow, because an email client
 * may include the text after a link, such as a full stop or the underscore of Markdown.
 */
const TOKEN = /^([A-Za-z0-9_-]{43})(?![_-]*[A-Za-z0-9])/;
/**
 * The prefix of a contact's id in the MAC. A contact's token therefore never equals the token of an email with the same
 * id.
 */
const CONTACT_DOMAIN = Buffer.from('tidings/contact\0');

/** The two tokens of one message: `track` signs clicks and opens, `manage` the pages that change the subscription. */
export interface LinkTokens {
  track: string;
  manage: string;
}

/**
 * The subject of a token for hosted pages: the email that contains the link, or the contact if the link is not in an
 * email.
 */
export interface TokenSubject {
  kind: 'email' | 'contact';
  id: string;
}

/**
 * Returns both tokens of a message, of 43 characters each. The tokens come from one HMAC-SHA256 over the 16 bytes of
 * the email's id: the first half of the MAC signs `track`, the second half `manage`. A forwarded click link therefore
 * cannot unsubscribe anyone. `secret` is SECRET_KEY.
 */
export function createLinkTokens(secret: string, emailId: string): LinkTokens {
  const id = uuidToBytes(emailId);
  return createTokens(id, getSigner(secret)(id, 'binary'));
}

/** Returns the `manage` token of a contact, for links outside a message (webhook steps). */
export function createContactToken(secret: string, contactId: string): string {
  return createTokens(uuidToBytes(contactId), computeContactMac(secret, uuidToBytes(contactId)).toString('latin1'))
    .manage;
}

/** Returns the email id in a token of a click or open. Undefined if this service did not sign the token. */
export function verifyTrackToken(secret: string, token: string): string | undefined {
  const parts = readToken(token);
  if (!parts) return undefined;
  const mac = computeEmailMac(secret, parts.id);
  return timingSafeEqual(parts.mac, mac.subarray(0, MAC_BYTES)) ? bytesToUuid(parts.id) : undefined;
}

/**
 * Returns the email or contact of a token for the subscription pages. Undefined if this service did not sign the token.
 */
export function verifyManageToken(secret: string, token: string): TokenSubject | undefined {
  const parts = readToken(token);
  if (!parts) return undefined;
  const email = computeEmailMac(secret, parts.id);
  const contact = computeContactMac(secret, parts.id);
  // Both MACs are always computed and compared, so that the response time reveals nothing.
  const isEmail = timingSafeEqual(parts.mac, email.subarray(MAC_BYTES));
  const isContact = timingSafeEqual(parts.mac, contact.subarray(MAC_BYTES));
  if (!isEmail && !isContact) return undefined;
  return { kind: isEmail ? 'email' : 'contact', id: bytesToUuid(parts.id) };
}

export function buildOpenPixelUrl(baseUrl: string, track: string): string {
  return `${baseUrl}/o/${track}.gif`;
}

/** @param index the position of the link in the content's stored links */
export function buildClickUrl(baseUrl: string, track: string, index: number): string {
  return `${baseUrl}/c/${track}/${index}`;
}

export function buildUnsubscribeUrl(baseUrl: string, manage: string): string {
  return `${baseUrl}/u/${manage}`;
}

/** Returns the links that templates can use. `manage` is the token of an email or a contact. */
export function buildContactUrls(baseUrl: string, manage: string): ContactUrls {
  return {
    unsubscribeUrl: buildUnsubscribeUrl(baseUrl, manage),
    subscribeUrl: `${baseUrl}/s/${manage}`,
    manageUrl: `${baseUrl}/m/${manage}`,
  };
}

/**
 * Returns the Message-ID of an email (RFC 5322 §3.6.4), which is the same for every attempt. `domain` is the sender's
 * domain.
 */
export function createMessageId(emailId: string, domain: string): string {
  return `<${emailId}@${domain}>`;
}

/**
 * Returns the email id in a Message-ID of this service, with or without angle brackets. Undefined for any other
 * Message-ID.
 */
export function parseMessageId(messageIdHeader: string): string | undefined {
  return /^<?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})@/.exec(messageIdHeader.trim().toLowerCase())?.[1];
}

/** @param mac a string with one character per byte */
function createTokens(id: Buffer, mac: string): LinkTokens {
  const signed = Buffer.allocUnsafe(ID_BYTES + MAC_BYTES);
  id.copy(signed, 0);
  signed.write(mac.slice(0, MAC_BYTES), ID_BYTES, 'latin1');
  const track = signed.toString('base64url');
  signed.write(mac.slice(MAC_BYTES), ID_BYTES, 'latin1');
  return { track, manage: signed.toString('base64url') };
}

function computeEmailMac(secret: string, id: Buffer): Buffer {
  return createHmac('sha256', getHmacKey(secret)).update(id).digest();
}

function computeContactMac(secret: string, id: Buffer): Buffer {
  return createHmac('sha256', getHmacKey(secret)).update(CONTACT_DOMAIN).update(id).digest();
}

function readToken(text: string): { id: Buffer; mac: Buffer } | undefined {
  const token = TOKEN.exec(text)?.[1];
  if (token === undefined) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  // 43 characters have 258 bits, two more than the token. The two extra bits must be 0, so that a token has only one
  // spelling.
  if (bytes.toString('base64url') !== token) return undefined;
  return { id: bytes.subarray(0, ID_BYTES), mac: bytes.subarray(ID_BYTES) };
}

function uuidToBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

function bytesToUuid(id: Buffer): string {
  const hex = id.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

interface LinkKey {
  secret: string;
  key: KeyObject;
  sign: IdMac;
}
let lastKey: LinkKey | undefined;

/**
 * Returns the key that signs all links. The key is cached, because a process has only one secret, and creating the key
 * takes longer than the MAC of a message.
 */
function getLinkKey(secret: string): LinkKey {
  if (lastKey?.secret === secret) return lastKey;
  const key = createHmac('sha256', secret).update('tidings/links/1').digest();
  lastKey = { secret, key: createSecretKey(key), sign: createIdMac(key) };
  return lastKey;
}

const getHmacKey = (secret: string): KeyObject => getLinkKey(secret).key;
const getSigner = (secret: string): IdMac => getLinkKey(secret).sign;
