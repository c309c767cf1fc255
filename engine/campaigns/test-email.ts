import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { saveContent } from '../../db/contents/contents.ts';
import { assertSender } from '../../db/domains/senders.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import { takeMonthlyAllowance } from '../../db/sending/monthly-usage.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { type EmailText, pickEmailText } from '../../rules/content/email-text.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import { isSimulatorAddress } from '../../rules/emails/simulator.ts';
import { AppError } from '../../rules/errors.ts';
import type { OutboxRow } from '../../rules/outbox.ts';

const SUBJECT_PREFIX = '[TEST] ';

export interface TestEmail {
  emailId: string;
  /** The rows to pass to `outbox.wake` after the commit. */
  outbox: OutboxRow[];
}

/**
 * Queues one email with the text of a campaign. If a contact has the address, the text is rendered with that contact.
 * The email does not belong to the campaign: it is not in the campaign's recipients or statistics, and it needs no
 * consent. Source: contract §6.
 * @throws AppError DOMAIN_NOT_VERIFIED, BILLING_LIMIT_EXCEEDED
 */
export async function insertTestEmail(
  trx: Trx,
  p: { projectId: string; text: EmailText; email: string; mode: KeyMode; monthlyEmailLimit: number | null },
): Promise<TestEmail> {
  const { projectId, text, mode } = p;
  await assertSender(trx, { projectId, from: text.from });
  const limit = mode === 'live' && !isSimulatorAddress(p.email) ? p.monthlyEmailLimit : null;
  if (!(await takeMonthlyAllowance(trx, { projectId, n: 1, limit }))) throw new AppError('BILLING_LIMIT_EXCEEDED');
  const contentId = await saveContent(trx, {
    ...pickEmailText(text),
    subject: SUBJECT_PREFIX + text.subject,
    projectId,
    type: 'TRANSACTIONAL',
    templateId: null,
  });
  const email = normalizeEmail(p.email);
  const { rows } = await sql<{ id: string }>`
    INSERT INTO emails (project_id, contact_id, content_id, source_type, mode, to_email)
    VALUES (${projectId}, (SELECT id FROM contacts WHERE project_id = ${projectId} AND email = ${email} FOR KEY SHARE),
      ${contentId}, 'TRANSACTIONAL', ${mode}, ${email})
    RETURNING id
  `.execute(trx);
  const refId = rows[0]?.id;
  if (!refId) throw new Error('an inserted email has no id');
  return { emailId: refId, outbox: await enqueue(trx, [{ projectId, kind: 'email.deliver', refId }]) };
}
