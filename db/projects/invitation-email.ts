import { sql } from 'kysely';
import { sealSecret } from '../../rules/access/secrets.ts';
import { NO_TEXT } from '../../rules/content/email-text.ts';
import { sealedVariablesContext } from '../../rules/emails/sealed-variables.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import type { Trx } from '../connection.ts';
import { saveContent } from '../contents/contents.ts';
import { enqueue } from '../outbox/outbox.ts';
import { INVITATION_DAYS, type Invitation } from './invitations.ts';

const SUBJECT = '{{invitedBy}} invited you to {{projectName}}';
const BODY = `
<p>{{invitedBy}} invited you to the project <b>{{projectName}}</b> on Tidings.</p>
<p><a href="{{invitationUrl}}">Join {{projectName}}</a></p>
<p>The link works once, within ${INVITATION_DAYS} days. If you did not expect this invitation, ignore this email.</p>`;

/**
 * Queues the email with an invitation, from the address `notices@` of the project's first verified domain. Does nothing
 * if the project has no verified domain. The link is stored encrypted, so that no one can become an OWNER by reading
 * the email history.
 * @param p.atRest the key that encrypts stored secrets
 */
export async function queueInvitationEmail(
  trx: Trx,
  p: { projectId: string; projectName: string; invitation: Invitation; url: string; atRest: Buffer },
): Promise<OutboxRow[]> {
  const { projectId, invitation } = p;
  const { rows: domains } = await sql<{ domain: string }>`
    SELECT domain FROM domains WHERE project_id = ${projectId} AND status = 'VERIFIED' ORDER BY id LIMIT 1
  `.execute(trx);
  const [sender] = domains;
  if (!sender) return [];
  const contentId = await saveContent(trx, {
    ...NO_TEXT,
    subject: SUBJECT,
    body: BODY,
    from: `notices@${sender.domain}`,
    fromName: 'Tidings',
    projectId,
    type: 'TRANSACTIONAL' as const,
    templateId: null,
  });
  const id = uuidv7();
  const sealed = sealSecret(p.atRest, sealedVariablesContext(id), JSON.stringify({ invitationUrl: p.url }));
  await trx
    .insertInto('emails')
    .values({
      id,
      project_id: projectId,
      content_id: contentId,
      source_type: 'TRANSACTIONAL',
      to_email: invitation.email,
      variables: JSON.stringify({ projectName: p.projectName, invitedBy: invitation.invitedBy }),
      options: JSON.stringify({ sealed }),
    })
    .execute();
  return enqueue(trx, [{ projectId, kind: 'email.deliver' as const, refId: id }]);
}
