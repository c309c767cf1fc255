import { addressParser, decodeWords } from 'postal-mime';
import { type Mailbox, parseMailbox } from '../emails/email-address.ts';

/**
 * Reads a From header whose name contains a comma but has no quotes, such as `Shop, Inc. <shop@example.com>`. A parser
 * would read two authors. Undefined for any other From header. The relay checks the domain of this author, and writes
 * the name in quotes.
 */
export function parseUnquotedAuthor(value: string): Mailbox | undefined {
  const authors = addressParser(value, { flatten: true });
  if (authors.length < 2 || authors.filter(({ address }) => address?.includes('@')).length !== 1) return undefined;
  const author = parseMailbox(decodeWords(value));
  return author.ok ? { email: author.email, name: author.name } : undefined;
}
