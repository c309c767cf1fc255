import { v7 as uuidv7 } from 'uuid';
import type { Db } from '../../db/connection.ts';
import { saveContent } from '../../db/contents/contents.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { NO_TEXT } from '../../rules/content/email-text.ts';
import type { EmailOptions } from '../../rules/emails/email-options.ts';
import type { EmailStatus } from '../../rules/emails/email-status.ts';

export interface BuildEmail {
  projectId: string;
  contactId?: string | null;
  to?: string | null;
  type?: 'TRANSACTIONAL' | 'MARKETING';
  subject?: string;
  body?: string;
  from?: string;
  replyTo?: string | null;
  sourceType?: 'TRANSACTIONAL' | 'WORKFLOW' | 'CAMPAIGN' | 'INBOUND';
  mode?: KeyMode;
  status?: EmailStatus;
  variables?: object | null;
  options?: EmailOptions;
}

/** Builds an email, PENDING by default. Returns its id. */
export async function buildEmail(db: Db, p: BuildEmail): Promise<string> {
  const id = uuidv7();
  const contentId = await saveContent(db, {
    projectId: p.projectId,
    ...NO_TEXT,
    subject: p.subject ?? 'Hello {{name}}',
    body: p.body ?? '<p>Hello {{name}}</p>',
    type: p.type ?? 'TRANSACTIONAL',
    from: p.from ?? 'hello@shop.example.com',
    fromName: 'Shop',
    replyTo: p.replyTo ?? null,
    templateId: null,
  });
  await db
    .insertInto('emails')
    .values({
      id,
      project_id: p.projectId,
      contact_id: p.contactId ?? null,
      content_id: contentId,
      source_type: p.sourceType ?? 'TRANSACTIONAL',
      mode: p.mode ?? 'live',
      status: p.status ?? 'PENDING',
      to_email: p.to === undefined ? 'ada@example.com' : p.to,
      variables: JSON.stringify(p.variables ?? { name: 'Ada' }),
      options: p.options ? JSON.stringify(p.options) : null,
    })
    .execute();
  return id;
}

/** Builds a contact of a project. Returns its id. */
export async function buildContact(
  db: Db,
  p: { projectId: string; email?: string; subscribed?: boolean; data?: object },
): Promise<string> {
  const row = await db
    .insertInto('contacts')
    .values({
      project_id: p.projectId,
      email: p.email ?? `${uuidv7()}@example.com`,
      subscribed: p.subscribed ?? true,
      data: JSON.stringify(p.data ?? {}),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}
