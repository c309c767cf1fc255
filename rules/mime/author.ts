import { addressParser, decodeWords } from 'postal-mime';
import { type Mailbox, parseMailbox } from '../emails/email-address.ts';

/**
 * Reads the author of a From whose name has a comma without quotes, `Shop, Inc. <shop@example.com>`, which a parser reads
 * as two authors. Undefined for any other From. The relay checks the domain of this author, and writes it in quotes.
 */
export function unquotedAuthor(value: string): Mailbox | undefined {
  const authors = addressParser(value, { flatten: true });
  if (authors.length < 2 || authors.filter(({ address }) => address?.includes('@')).length !== 1) return undefined;
  const author = parseMailbox(decodeWords(value));
  return author.ok ? { email: author.email, name: author.name } : undefined;
}
