import { sql } from 'kysely';
import type { Db } from '../../db/connection.ts';
import { toContentRow } from '../../db/contents/contents.ts';
import { type ClaimedEmail, previewClaim } from '../../db/sending/email-ledger.ts';
import type { KeyPads } from '../../rules/emails/suppression.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import type { CurrentExecution } from '../automations/locked-executions.ts';
import { buildRunTables } from '../automations/run-tables.ts';
import { buildStepEmailRow, type StepEmailDraft } from './step-emails.ts';

/**
 * Builds the email that a SEND_EMAIL step would send, from a draft that has no row in `emails`. Reads the same data as
 * the claim of a real email. Undefined if the contact does not exist.
 */
export async function previewEmail(
  db: Db,
  p: { execution: CurrentExecution; draft: StepEmailDraft; now: Date; suppressionPads: KeyPads },
): Promise<ClaimedEmail | undefined> {
  const { execution, draft, now } = p;
  const { projectId, contactId } = execution;
  const contentId = uuidv7();
  const { variables, options } = buildStepEmailRow(execution);
  const email = {
    id: uuidv7(),
    project_id: projectId,
    contact_id: contactId,
    content_id: contentId,
    to_email: draft.to,
    source_type: 'WORKFLOW',
    mode: 'live',
    claim: 0,
    attempts: 1,
    created_at: now.toISOString(),
    variables: JSON.parse(variables),
    options: options === null ? null : JSON.parse(options),
  };
  const content = { ...toContentRow(draft.content), id: contentId };
  const tables = [
    ...buildRunTables(execution, now),
    sql`contents AS (SELECT r.* FROM jsonb_populate_record(NULL::contents, ${JSON.stringify(content)}::jsonb) r)`,
    sql`t AS (SELECT r.* FROM jsonb_populate_record(NULL::emails, ${JSON.stringify(email)}::jsonb) r)`,
  ];
  return previewClaim(db, { projectId, suppressionPads: p.suppressionPads }, sql`${sql.join(tables)}`);
}
