import { normalizeEmail } from '../../rules/emails/email-address.ts';
import { getFirstWord } from './field-values.ts';

/**
 * The fields of a delivery status notification (RFC 3464) about one recipient, by their name in lower case. A
 * notification has one block of such fields for each recipient.
 */
export type RecipientStatus = Map<string, string>;

/** The actions from the best to the worst. If no block names our recipient, the block with the worst action counts. */
const ACTIONS = ['delivered', 'relayed', 'expanded', 'delayed', 'failed'];
const RECIPIENT_FIELDS = ['final-recipient', 'original-recipient'] as const;
/** The maximum number of blocks that are read. Our emails have far fewer recipients. */
const BLOCKS_MAX = 1_000;
/**
 * The maximum length of an address as a report writes it. An address has at most 254 characters, and each of them may
 * be written as `\x{00e9}`.
 */
const WRITTEN_MAX_CHARS = 254 * 8;

/**
 * Finds the block about `address` in a notification, by Final-Recipient or Original-Recipient. A notification may be
 * about several recipients, and a `relayed` for another recipient must not hide that the delivery to our recipient
 * failed. If no block names `address`, or `address` is null, returns the block with the worst action. `isAboutAnother`
 * is true if that block names another address, such as the target of a forward.
 */
export function findRecipientStatus(
  blocks: RecipientStatus[],
  address: string | null,
): { fields: RecipientStatus; isAboutAnother: boolean } {
  const withAction = blocks.filter((fields) => getAction(fields) !== '').slice(0, BLOCKS_MAX);
  const ofRecipient =
    address === null ? [] : withAction.filter((fields) => isAboutRecipient(fields, address.toLowerCase()));
  const fields = findWorst(ofRecipient.length > 0 ? ofRecipient : withAction) ?? new Map();
  return { fields, isAboutAnother: address !== null && ofRecipient.length === 0 && hasAnyAddress(fields) };
}

/**
 * Returns the action of a block in lower case, or an empty string. Some servers omit the field Action, although RFC
 * 3464 requires it. In that case, a permanent status (5.x.x) means `failed` if the block names a recipient.
 */
export function getAction(fields: RecipientStatus): string {
  const action = getFirstWord(fields.get('action') ?? '');
  if (action !== '' || !RECIPIENT_FIELDS.some((field) => fields.has(field))) return action;
  return fields.get('status')?.startsWith('5.') ? 'failed' : '';
}

function hasAnyAddress(fields: RecipientStatus): boolean {
  return RECIPIENT_FIELDS.some((field) => readAddress(fields.get(field) ?? '')?.includes('@'));
}

function isAboutRecipient(fields: RecipientStatus, address: string): boolean {
  return RECIPIENT_FIELDS.some((field) => {
    const written = readAddress(fields.get(field)?.toLowerCase() ?? '');
    if (written === undefined) return false;
    return written === address || decodeXtext(written) === address || decodeUtf8Address(written) === address;
  });
}

/**
 * Reads the address from a value like `rfc822; <a@example.com>`. Searches for the separators one by one, because a
 * regular expression could run for hours on a value with many spaces from an attacker.
 */
function readAddress(value: string): string | undefined {
  const semicolon = value.indexOf(';');
  if (semicolon < 0 || !/^[\w-]+$/.test(value.slice(0, semicolon).trim())) return undefined;
  const text = withoutEndComment(value.slice(semicolon + 1).trim());
  const bare = text.slice(text.startsWith('<') ? 1 : 0, text.endsWith('>') ? -1 : undefined).trim();
  return bare.includes('>') ? undefined : bare;
}

/**
 * Removes the comment from a text like `ada@example.com (Ada)`. Leaves a quoted local part unchanged, because it may
 * contain parentheses.
 */
function withoutEndComment(text: string): string {
  const comment = text.startsWith('"') ? -1 : text.indexOf(' (');
  return comment < 0 ? text : text.slice(0, comment).trim();
}

/**
 * Decodes xtext (RFC 3461 §4), the encoding of Original-Recipient, which writes characters as `+2B`. The text is in
 * lower case here.
 */
function decodeXtext(text: string): string {
  return text.replace(/\+([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/**
 * Decodes an address of the type `utf-8` (RFC 6533 §3). Characters are written directly or as `\x{e9}`, and the domain
 * may contain Unicode characters. Returns the address as the service stores it, with the domain in ASCII.
 */
function decodeUtf8Address(text: string): string | undefined {
  if (text.length > WRITTEN_MAX_CHARS) return undefined;
  const decoded = text.replace(/\\x\{([0-9a-f]{2,6})\}/g, (whole, hex: string) => {
    const codePoint = Number.parseInt(hex, 16);
    return codePoint > 0x10ffff ? whole : String.fromCodePoint(codePoint);
  });
  return normalizeEmail(decoded);
}

function findWorst(blocks: RecipientStatus[]): RecipientStatus | undefined {
  return blocks.reduce<RecipientStatus | undefined>(
    (found, block) => (found === undefined || getBlockSeverity(block) > getBlockSeverity(found) ? block : found),
    undefined,
  );
}

/**
 * Returns a number for comparing blocks; a larger number is worse. With the same action, a status of 5.x.x is worse
 * than 4.x.x.
 */
function getBlockSeverity(block: RecipientStatus): number {
  const isPermanent = block.get('status')?.startsWith('5') ? 1 : 0;
  return 2 * ACTIONS.indexOf(getAction(block)) + isPermanent;
}
