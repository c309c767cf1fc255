import { sql } from 'kysely';
import { AppError } from '../../rules/errors.ts';
import { toSegmentSlug } from '../../rules/slug.ts';
import type { Db, Trx } from '../connection.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import { assertQuota } from '../records/quotas.ts';
import { UNFINISHED_CAMPAIGNS } from '../schema/campaign-status.ts';
import type { RowOf } from '../schema/database.ts';

/**
 * A subject of a project's marketing email. Contacts join and leave each topic, independently of their subscription.
 */
export interface Topic {
  id: string;
  name: string;
  slug: string;
  description: string | null;
  /** Whether contacts that have made no choice count as having joined the topic. */
  defaultSubscribed: boolean;
  createdAt: Date;
  updatedAt: Date;
}

export interface TopicRef {
  projectId: string;
  id: string;
}

/**
 * Fields that a caller may write. If a new topic has no slug, the slug is derived from the name. A later change of the
 * name does not change the slug.
 */
export interface TopicChanges {
  name?: string | undefined;
  slug?: string | undefined;
  description?: string | null | undefined;
  defaultSubscribed?: boolean | undefined;
}

const COLUMNS = ['id', 'name', 'slug', 'description', 'default_subscribed', 'created_at', 'updated_at'] as const;

type TopicRow = RowOf<'topics', typeof COLUMNS>;

/** Lists topics newest first. `total` is 0 on later pages. */
export async function listTopics(
  db: Db,
  p: PageRequest & { projectId: string },
): Promise<Page<Topic> & { total: number }> {
  const rows = await db
    .selectFrom('topics')
    .select(COLUMNS)
    .where('project_id', '=', p.projectId)
    .where(afterCursorSql(p.cursor))
    .orderBy('id', 'desc')
    .limit(p.limit + 1)
    .execute();
  const total = p.cursor === undefined ? await countTopics(db, p.projectId) : 0;
  return { ...toPage(rows, p.limit, toTopic), total };
}

/** Lists all topics of the project by slug. */
export async function listAllTopics(db: Db, projectId: string): Promise<Topic[]> {
  const rows = await db
    .selectFrom('topics')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .orderBy('slug')
    .execute();
  return rows.map(toTopic);
}

/**
 * Returns one topic.
 * @throws AppError NOT_FOUND, also for an id of another project
 */
export async function getTopic(db: Db, { projectId, id }: TopicRef): Promise<Topic> {
  const row = await db
    .selectFrom('topics')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  return toTopic(row);
}

/**
 * Creates a topic.
 * @throws AppError CONFLICT when the name or slug is taken, or the project has reached its limit
 */
export async function insertTopic(
  trx: Trx,
  p: { projectId: string; name: string; slug?: string | undefined } & TopicChanges,
): Promise<Topic> {
  await assertQuota(trx, { projectId: p.projectId, table: 'topics' });
  const { projectId, name, slug = toSegmentSlug(name), description = null, defaultSubscribed = true } = p;
  const inserted = trx
    .insertInto('topics')
    .values({ project_id: projectId, name, slug, description, default_subscribed: defaultSubscribed })
    .returning(COLUMNS);
  return toTopic(await refuseTakenTopic({ name, slug }, () => inserted.executeTakeFirst()));
}

/**
 * Changes some fields of a topic.
 * @throws AppError NOT_FOUND; CONFLICT when the name or slug is taken
 */
export async function updateTopic(trx: Trx, { projectId, id }: TopicRef, changes: TopicChanges): Promise<Topic> {
  const { name, slug, description, defaultSubscribed } = changes;
  const updated = trx
    .updateTable('topics')
    .set({ name, slug, description, default_subscribed: defaultSubscribed, updated_at: sql<Date>`now()` })
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .returning(COLUMNS);
  return toTopic(await refuseTakenTopic({ name, slug }, () => updated.executeTakeFirst()));
}

/**
 * Deletes a topic and the contacts' choices about it. Campaigns that have ended lose their reference to it.
 * @throws AppError NOT_FOUND; CONFLICT while templates or unfinished campaigns use the topic, which `details` lists
 */
export async function deleteTopic(trx: Trx, { projectId, id }: TopicRef): Promise<void> {
  // Locks the topic first. A template or campaign that starts to use the topic waits for this lock because of its
  // foreign key.
  await sql`SELECT id FROM topics WHERE project_id = ${projectId} AND id = ${id} FOR UPDATE`.execute(trx);
  const { rows } = await sql<{ kind: 'campaign' | 'template'; id: string; name: string }>`
    SELECT 'campaign' AS kind, id, name FROM campaigns
    WHERE project_id = ${projectId} AND topic_id = ${id} AND status IN ${UNFINISHED_CAMPAIGNS}
    UNION ALL SELECT 'template', id, name FROM templates WHERE project_id = ${projectId} AND topic_id = ${id}
    ORDER BY kind, id LIMIT 100
  `.execute(trx);
  if (rows.length > 0) {
    const named = (kind: string) =>
      rows.filter((row) => row.kind === kind).map((row) => ({ id: row.id, name: row.name }));
    throw new AppError('CONFLICT', {
      message: 'Templates or unfinished campaigns use this topic.',
      details: { campaigns: named('campaign'), templates: named('template') },
      suggestion: 'Give the campaigns and templates in details another topicId, or null, then delete the topic.',
    });
  }
  const { numDeletedRows } = await trx
    .deleteFrom('topics')
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw createNotFoundError();
}

/**
 * Locks a topic against deletion until the transaction ends.
 * @throws AppError NOT_FOUND when the project has no topic with this id
 */
export async function lockTopic(trx: Trx, { projectId, id }: TopicRef): Promise<void> {
  const { rows } = await sql`
    SELECT id FROM topics WHERE project_id = ${projectId} AND id = ${id} FOR KEY SHARE
  `.execute(trx);
  if (rows.length === 0) throw createNotFoundError();
}

async function countTopics(db: Db, projectId: string): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    SELECT count(*) AS total FROM topics WHERE project_id = ${projectId}
  `.execute(db);
  return rows[0]?.total ?? 0;
}

const UNIQUE_VIOLATION = '23505';

/**
 * Runs a write of a topic.
 * @throws AppError CONFLICT when another topic of the project has the name or slug
 */
async function refuseTakenTopic<T>(
  details: { name: string | undefined; slug: string | undefined },
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const { code, constraint } = error as { code?: unknown; constraint?: unknown };
    if (code !== UNIQUE_VIOLATION) throw error;
    const which = constraint === 'topics_slug' ? 'slug' : 'name';
    throw new AppError('CONFLICT', {
      message: `Another topic of this project has this ${which}.`,
      details: { [which]: details[which] },
      suggestion: `Choose another ${which}, or change the existing topic; GET /v1/topics lists all.`,
      cause: error,
    });
  }
}

function toTopic(row: TopicRow | undefined): Topic {
  if (!row) throw createNotFoundError();
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    defaultSubscribed: row.default_subscribed,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function createNotFoundError(): AppError {
  return new AppError('NOT_FOUND', { message: 'No topic of this project has this id.' });
}
