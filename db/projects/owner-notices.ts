import { sql } from 'kysely';
import { NO_TEXT } from '../../rules/content/email-text.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { Trx } from '../connection.ts';
import { saveContent } from '../contents/contents.ts';
import { enqueue } from '../outbox/outbox.ts';

/**
 * Queues an email of the service to a project's owners, from the address `notices@` of its first verified domain. The
 * email is stored and shown like any other email. A project without a verified domain gets no email; its owners see the
 * same information in the dashboard.
 */
export async function queueOwnerNotice(
  trx: Trx,
  p: { projectId: string; subject: string; body: string },
): Promise<OutboxRow[]> {
  const { rows: domains } = await sql<{ domain: string }>`
    SELECT domain FROM domains WHERE project_id = ${p.projectId} AND status = 'VERIFIED' ORDER BY id LIMIT 1
  `.execute(trx);
  const [sender] = domains;
  if (!sender) return [];
  const contentId = await saveContent(trx, {
    ...NO_TEXT,
    subject: p.subject,
    body: p.body,
    from: `notices@${sender.domain}`,
    fromName: 'Tidings',
    projectId: p.projectId,
    type: 'TRANSACTIONAL',
    templateId: null,
  });
  const { rows } = await sql<{ id: string }>`
    INSERT INTO emails (project_id, content_id, source_type, to_email)
    SELECT ${p.projectId}, ${contentId}, 'TRANSACTIONAL', u.email
    FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.project_id = ${p.projectId} AND m.role = 'OWNER'
    RETURNING id
  `.execute(trx);
  return enqueue(
    trx,
    rows.map(({ id }) => ({ projectId: p.projectId, kind: 'email.deliver' as const, refId: id })),
  );
}
