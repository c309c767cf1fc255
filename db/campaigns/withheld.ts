import { type RawBuilder, sql } from 'kysely';
import type { KeyPads } from '../../rules/emails/suppression.ts';
import { suppressedReason } from '../contacts/suppressions.ts';

/**
 * Why somebody of an audience is not sent a campaign, as things stand: a word of the closed vocabulary, or NULL for who
 * is. `subscribed` and `email` are columns of the contact. A project without any suppression, which most are, pays one
 * look for the whole statement.
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
