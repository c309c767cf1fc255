import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { EmailText } from '../../rules/content/email-text.ts';
import { AppError } from '../../rules/errors.ts';
import { assertUnchanged, type ReadVersion } from '../../rules/record-version.ts';
import type { Db, Trx } from '../connection.ts';
import { containsTextSql } from '../contains-text.ts';
import { assertSender } from '../domains/senders.ts';
import { afterCursorSql, type NumberedPage, toNumberedPage, toOffset } from '../keyset.ts';
import { fittedPageSql, type Listed } from '../page-budget.ts';
import { assertQuota } from '../records/quotas.ts';
import { nextVersionSql } from '../records/record-version.ts';
import { chooseFreeSlug, refuseTakenSlug } from '../records/slugs.ts';
import type { EmailType } from '../schema/contents.ts';
import type { RowOf } from '../schema/database.ts';
import { lockTopic } from '../topics/topics.ts';
import { EMAIL_TEXT_COLUMN_NAMES, toEmailText, toEmailTextColumns } from './email-text.ts';

export const TEMPLATE_TYPES = ['TRANSACTIONAL', 'MARKETING'] as const satisfies EmailType[];

export interface TemplateFields extends EmailText<string | null> {
  name: string;
  description: string | null;
  type: EmailType;
  /** Topic of the template's emails. Only MARKETING templates have a topic. */
  topicId: string | null;
}

export interface Template extends TemplateFields {
  id: string;
  /** Identifies the template in exported files, also in another project. Does not change when the name changes. */
  slug: string;
  createdAt: Date;
  updatedAt: Date;
}

export interface TemplateRef {
  projectId: string;
  id: string;
}

export interface TemplateUsage {
  campaigns: { id: string; name: string }[];
  workflowSteps: { id: string; name: string; workflowId: string; workflowName: string }[];
  emailsSent: number;
}

/** The columns of `TemplateFields` except the name. */
const COPIED = ['description', ...EMAIL_TEXT_COLUMN_NAMES, 'type', 'topic_id'] as const;
const COLUMN_NAMES = ['id', 'name', 'slug', ...COPIED, 'created_at', 'updated_at'] as const;
const COLUMNS = sql.raw(COLUMN_NAMES.join(', '));
const SEARCHED = ['name', 'subject', 'description'];

type TemplateRow = RowOf<'templates', typeof COLUMN_NAMES>;

/** Maximum length of a name. The limit also applies to the name of a copy. */
export const TEMPLATE_NAME_MAX_CHARS = 200;
const COPY_SUFFIX = ' (Copy)';

/**
 * Returns one template.
 * @throws AppError NOT_FOUND, also for an id of another project
 */
export async function getTemplate(db: Db, { projectId, id }: TemplateRef): Promise<Template> {
  const row = await db
    .selectFrom('templates')
    .select(COLUMN_NAMES)
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  return toTemplate(row);
}

/**
 * Lists templates newest first, by page number or cursor. Omits the bodies that would make the response too large.
 * `search` is a substring of the name, subject or description, in upper or lower case.
 */
export async function listTemplates(
  db: Db,
  p: {
    projectId: string;
    page: number;
    pageSize: number;
    cursor?: string | undefined;
    type?: EmailType | undefined;
    search?: string | undefined;
  },
): Promise<NumberedPage<Listed<Template>>> {
  const found = sql<SqlBool>`project_id = ${p.projectId} AND ${isOfType(p.type)} AND ${containsTextSql(SEARCHED, p.search)}`;
  const { rows: counted } = await sql<{
    total: number;
  }>`SELECT count(*) AS total FROM templates WHERE ${found}`.execute(db);
  const page = sql`
    SELECT ${COLUMNS} FROM templates WHERE ${found} AND ${afterCursorSql(p.cursor)}
    ORDER BY id DESC LIMIT ${p.pageSize + 1} OFFSET ${toOffset(p)}`;
  const large = { body: 'text' } as const;
  const { rows } = await fittedPageSql<TemplateRow>({ columns: COLUMN_NAMES, large, rows: page }).execute(db);
  return toNumberedPage(rows, { page: p.page, pageSize: p.pageSize, total: counted[0]?.total ?? 0 }, (row) => ({
    ...toTemplate(row),
    truncated: row.truncated,
  }));
}

/** Lists all templates of the project by slug, with their bodies. Does not limit the total size. */
export async function listAllTemplates(db: Db, projectId: string): Promise<Template[]> {
  const rows = await db
    .selectFrom('templates')
    .select(COLUMN_NAMES)
    .where('project_id', '=', projectId)
    .orderBy('slug')
    .execute();
  return rows.map(toTemplate);
}

/**
 * Creates a template.
 * @throws AppError DOMAIN_NOT_VERIFIED for a `from` that the project may not send from; NOT_FOUND for an unknown topic;
 * CONFLICT when the project has 1,000 templates, or the slug is taken
 */
export async function insertTemplate(
  trx: Trx,
  p: TemplateFields & { projectId: string; slug?: string | undefined },
): Promise<Template> {
  await assertQuota(trx, { projectId: p.projectId, table: 'templates' });
  if (p.from !== null) await assertSender(trx, { projectId: p.projectId, from: p.from });
  if (p.topicId !== null) await lockTopic(trx, { projectId: p.projectId, id: p.topicId });
  const { projectId, name, description, type } = p;
  const slug = p.slug ?? (await chooseFreeSlug(trx, { table: 'templates', within: projectId, name }));
  const inserted = trx
    .insertInto('templates')
    .values({ project_id: projectId, name, slug, description, type, topic_id: p.topicId, ...toEmailTextColumns(p) })
    .returning(COLUMN_NAMES);
  return toTemplate(await refuseTakenSlug({ kind: 'template', slug }, () => inserted.executeTakeFirst()));
}

/**
 * Changes some fields of a template. Emails that were accepted earlier keep their content.
 * @throws AppError NOT_FOUND, DOMAIN_NOT_VERIFIED for a new `from` that the project may not send from, CONFLICT for a
 * slug that is taken, or when the caller has read an older version
 */
export async function updateTemplate(
  trx: Trx,
  p: TemplateRef & { changes: Partial<TemplateFields & { slug: string }>; read?: ReadVersion | undefined },
): Promise<Template> {
  const { changes, read } = p;
  if (read) await lockTemplate(trx, p, read);
  if (changes.from) await assertSender(trx, { projectId: p.projectId, from: changes.from });
  if (changes.topicId) await lockTopic(trx, { projectId: p.projectId, id: changes.topicId });
  const updated = trx
    .updateTable('templates')
    .set({
      name: changes.name,
      slug: changes.slug,
      description: changes.description,
      type: changes.type,
      topic_id: changes.topicId,
      ...toEmailTextColumns(changes),
      updated_at: nextVersionSql(),
    })
    .where('project_id', '=', p.projectId)
    .where('id', '=', p.id)
    .returning(COLUMN_NAMES);
  const { slug } = changes;
  return toTemplate(await refuseTakenSlug({ kind: 'template', slug }, () => updated.executeTakeFirst()));
}

/**
 * Creates a template with the same content, named "… (Copy)".
 * @throws AppError NOT_FOUND; CONFLICT when the project has 1,000 templates
 */
export async function duplicateTemplate(trx: Trx, { projectId, id }: TemplateRef): Promise<Template> {
  await assertQuota(trx, { projectId, table: 'templates' });
  const kept = TEMPLATE_NAME_MAX_CHARS - COPY_SUFFIX.length;
  const copied = sql.raw(COPIED.join(', '));
  const { name } = await getTemplate(trx, { projectId, id });
  const slug = await chooseFreeSlug(trx, { table: 'templates', within: projectId, name: `${name}${COPY_SUFFIX}` });
  const { rows } = await sql<TemplateRow>`
    INSERT INTO templates (project_id, name, slug, ${copied})
    SELECT project_id, left(name, ${kept}::int) || ${COPY_SUFFIX}, ${slug}, ${copied} FROM templates WHERE project_id = ${projectId} AND id = ${id}
    RETURNING ${COLUMNS}
  `.execute(trx);
  return toTemplate(rows[0]);
}

/**
 * Returns the workflow steps that use a template, and the number of live emails that were sent with it.
 * @throws AppError NOT_FOUND
 */
export async function getTemplateUsage(db: Db, ref: TemplateRef): Promise<TemplateUsage> {
  await getTemplate(db, ref);
  const { rows } = await sql<{ sent: number }>`
    SELECT count(*) AS sent FROM emails e JOIN contents c ON c.id = e.content_id
    WHERE e.project_id = ${ref.projectId} AND c.project_id = ${ref.projectId} AND c.template_id = ${ref.id}
      AND e.sent_at IS NOT NULL AND e.mode = 'live'
  `.execute(db);
  // Lists no campaigns, because a campaign stores its own text even if it was written from a template.
  return { campaigns: [], workflowSteps: await listStepsUsing(db, ref), emailsSent: rows[0]?.sent ?? 0 };
}

/**
 * Deletes a template. Emails that were accepted earlier keep their content.
 * @throws AppError NOT_FOUND; CONFLICT while the double opt-in or a workflow step uses the template (with the steps in
 * `details`), or when the caller has read an older version
 */
export async function deleteTemplate(
  trx: Trx,
  { read, ...ref }: TemplateRef & { read?: ReadVersion | undefined },
): Promise<void> {
  if (read) await lockTemplate(trx, ref, read);
  const steps = await lockStepsUsing(trx, ref);
  if (steps.length > 0) {
    throw new AppError('CONFLICT', {
      message: 'Steps of workflows use this template.',
      details: { workflowSteps: steps },
      suggestion: 'Give the steps in details another template first.',
    });
  }
  const { rows } =
    await sql`SELECT id FROM projects WHERE id = ${ref.projectId} AND double_opt_in_template_id = ${ref.id}`.execute(
      trx,
    );
  if (rows.length > 0)
    throw new AppError('CONFLICT', {
      message: 'The double opt-in of the project uses this template.',
      suggestion: 'Set another doubleOptIn.templateId with PATCH /project first.',
    });
  await trx.deleteFrom('templates').where('project_id', '=', ref.projectId).where('id', '=', ref.id).execute();
}

/**
 * Locks a template until the transaction ends.
 * @throws AppError NOT_FOUND; CONFLICT when the template has another version
 */
async function lockTemplate(trx: Trx, { projectId, id }: TemplateRef, read: ReadVersion): Promise<void> {
  const row = await trx
    .selectFrom('templates')
    .select('updated_at')
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw createTemplateNotFoundError();
  assertUnchanged({ name: 'template', updatedAt: row.updated_at }, read);
}

/**
 * Locks the template before reading the steps. A step that starts to use the template waits for this lock because of
 * its foreign key.
 */
async function lockStepsUsing(trx: Trx, ref: TemplateRef): Promise<TemplateUsage['workflowSteps']> {
  const row = await trx
    .selectFrom('templates')
    .select('id')
    .where('project_id', '=', ref.projectId)
    .where('id', '=', ref.id)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw createTemplateNotFoundError();
  return listStepsUsing(trx, ref);
}

async function listStepsUsing(db: Db, ref: TemplateRef): Promise<TemplateUsage['workflowSteps']> {
  const { rows } = await sql<TemplateUsage['workflowSteps'][number]>`
    SELECT s.id, s.name, w.id AS "workflowId", w.name AS "workflowName"
    FROM workflow_steps s JOIN workflows w ON w.id = s.workflow_id
    WHERE s.project_id = ${ref.projectId} AND (s.template_id = ${ref.id} OR s.config->>'templateId' = ${ref.id}::uuid::text)
    ORDER BY s.id
  `.execute(db);
  return rows;
}

function isOfType(type: EmailType | undefined): RawBuilder<SqlBool> {
  return type === undefined ? sql<SqlBool>`true` : sql<SqlBool>`type = ${type}`;
}

function toTemplate(row: TemplateRow | undefined): Template {
  if (!row) throw createTemplateNotFoundError();
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    ...toEmailText(row),
    type: row.type,
    topicId: row.topic_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function createTemplateNotFoundError(): AppError {
  return new AppError('NOT_FOUND', { message: 'No template of this project has this id.' });
}
