import { type RawBuilder, sql } from 'kysely';
import type { KeyPads } from '../../rules/emails/suppression.ts';
import { suppressionReasonSql } from '../contacts/suppressions.ts';

/**
 * Returns SQL for the reason why a contact of an audience may not get a campaign now, or NULL. Checks only the
 * subscription and the suppressions; the topic and the frequency cap are checked when the email is claimed.
 * `subscribed` and `email` are columns of the contact. A project without suppressions, which is the common case, costs
 * one lookup for the whole statement.
 */
export function withheldReasonSql(p: {
  projectId: string;
  pads: KeyPads;
  subscribed: RawBuilder<unknown>;
  email: RawBuilder<unknown>;
}): RawBuilder<string | null> {
  const why = suppressionReasonSql({ pads: p.pads, email: p.email, projectId: p.projectId, type: 'MARKETING' });
  return sql<string | null>`CASE WHEN NOT ${p.subscribed} THEN 'unsubscribed'
    WHEN EXISTS (SELECT FROM suppressions WHERE project_id = ${p.projectId}) THEN 'suppressed:' || (${why}) END`;
}
