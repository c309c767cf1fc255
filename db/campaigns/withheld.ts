import { type RawBuilder, sql } from 'kysely';
import type { KeyPads } from '../../rules/emails/suppression.ts';
import { suppressedReason } from '../contacts/suppressions.ts';

/**
 * Returns the reason why a contact of an audience would not get a campaign now, from the closed vocabulary, or NULL
 * if the contact would get it. `subscribed` and `email` are columns of the contact. A project without suppressions,
 * the common case, pays one lookup for the whole statement.
 */
export function withheldReason(p: {
  projectId: string;
  pads: KeyPads;
  subscribed: RawBuilder<unknown>;
  email: RawBuilder<unknown>;
}): RawBuilder<string | null> {
  const why = suppressedReason({ pads: p.pads, email: p.email, projectId: p.projectId, type: 'MARKETING' });
  return sql<string | null>`CASE WHEN NOT ${p.subscribed} THEN 'unsubscribed'
    WHEN EXISTS (SELECT FROM suppressions WHERE project_id = ${p.projectId}) THEN 'suppressed:' || (${why}) END`;
}
