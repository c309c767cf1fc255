import { AppLink } from '../../parts/app-link.tsx';
import { text } from '../../text/text.ts';

/** The recipient of a message, with a link to the contact. `to` is null if the address was erased. */
export function Recipient({ to, contactId }: { to: string | null; contactId: string | null }) {
  if (to === null) return text.messages.erased;
  return contactId ? <AppLink to={`/contacts/${contactId}`}>{to}</AppLink> : to;
}
