import { normalizeEmail } from '../../rules/emails/email-address.ts';
import { firstWord } from './field-values.ts';

/** The block of a delivery status notification (RFC 3464) about one recipient; fields by name in lower case. */
export type RecipientStatus = Map<string, string>;

/** From the best to the worst. When several blocks name no recipient of ours, the worst counts. */
const ACTIONS = ['delivered', 'relayed', 'expanded', 'delayed', 'failed'];
const RECIPIENT_FIELDS = ['final-recipient', 'original-recipient'] as const;
/** More recipients than one of our emails can have, so such a notification is not about our email. */
const BLOCKS_MAX = 1_000;
/** An address has at most 254 characters; each may be written as `\x{00e9}`. */
const WRITTEN_MAX_CHARS = 254 * 8;

/**
 * Finds the block about `address`, by Final-Recipient or Original-Recipient, among the blocks of a notification. A
 * notification may be about several recipients, and `relayed` for another one must not hide that ours failed. Without
 * such a block, or without a known address, the worst block counts. `isAboutAnother` is then true if the block names
 * another address, such as the target of a forward.
 */
export function statusOf(
  blocks: RecipientStatus[],
  address: string | null,
): { fields: RecipientStatus; isAboutAnother: boolean } {
  const about = blocks.filter((fields) => actionOf(fields) !== '').slice(0, BLOCKS_MAX);
  const ours = address === null ? [] : about.filter((fields) => namesRecipient(fields, address.toLowerCase()));
  const fields = worst(ours.length > 0 ? ours : about) ?? new Map();
  return { fields, isAboutAnother: address !== null && ours.length === 0 && namesAnyRecipient(fields) };
}

/**
 * Returns the action of a block in lower case; empty without one. Some servers omit the field, although RFC 3464 requires
 * it. A permanent status of a recipient then means that the delivery failed.
 */
export function actionOf(fields: RecipientStatus): string {
  const action = firstWord(fields.get('action') ?? '');
  if (action !== '' || !RECIPIENT_FIELDS.some((field) => fields.has(field))) return action;
  return fields.get('status')?.startsWith('5.') ? 'failed' : '';
}

function namesAnyRecipient(fields: RecipientStatus): boolean {
  return RECIPIENT_FIELDS.some((field) => writtenAddress(fields.get(field) ?? '')?.includes('@'));
}

function namesRecipient(fields: RecipientStatus, address: string): boolean {
  return RECIPIENT_FIELDS.some((field) => {
    const written = writtenAddress(fields.get(field)?.toLowerCase() ?? '');
    if (written === undefined) return false;
    return written === address || fromXtext(written) === address || fromUtf8Address(written) === address;
  });
}

/**
 * Reads the address of `rfc822; <a@example.com>`. Searches for the separators instead of using one pattern, because an
 * attacker's spaces could make a pattern run for hours.
 */
function writtenAddress(value: string): string | undefined {
  const semicolon = value.indexOf(';');
  if (semicolon < 0 || !/^[\w-]+$/.test(value.slice(0, semicolon).trim())) return undefined;
  const text = withoutEndComment(value.slice(semicolon + 1).trim());
  const bare = text.slice(text.startsWith('<') ? 1 : 0, text.endsWith('>') ? -1 : undefined).trim();
  return bare.includes('>') ? undefined : bare;
}

/** Cuts the comment of `ada@example.com (Ada)`. A quoted local part may contain parentheses. */
function withoutEndComment(text: string): string {
  const comment = text.startsWith('"') ? -1 : text.indexOf(' (');
  return comment < 0 ? text : text.slice(0, comment).trim();
}

/** Decodes xtext (RFC 3461 §4), in which Original-Recipient writes characters as `+2B`, here in lower case. */
function fromXtext(text: string): string {
  return text.replace(/\+([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/**
 * Decodes an address of the type `utf-8` (RFC 6533 §3), which has characters as such or as `\x{e9}`, and U-labels in
 * its domain. The service stores domains as A-labels.
 */
function fromUtf8Address(text: string): string | undefined {
  if (text.length > WRITTEN_MAX_CHARS) return undefined;
  const decoded = text.replace(/\\x\{([0-9a-f]{2,6})\}/g, (whole, hex: string) => {
    const codePoint = Number.parseInt(hex, 16);
    return codePoint > 0x10ffff ? whole : String.fromCodePoint(codePoint);
  });
  return normalizeEmail(decoded);
}

function worst(blocks: RecipientStatus[]): RecipientStatus | undefined {
  return blocks.reduce<RecipientStatus | undefined>(
    (found, block) => (found === undefined || severityOf(block) > severityOf(found) ? block : found),
    undefined,
  );
}

/** Returns how bad a result is, for sorting. With the same action, 5.x.x is worse than 4.x.x. */
function severityOf(block: RecipientStatus): number {
  const forGood = block.get('status')?.startsWith('5') ? 1 : 0;
  return 2 * ACTIONS.indexOf(actionOf(block)) + forGood;
}
