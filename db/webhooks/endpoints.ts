import { sql } from 'kysely';
import { sealSecret } from '../../rules/access/secrets.ts';
import { type StoredUrl, sealUrl } from '../../rules/access/url-secrets.ts';
import { AppError } from '../../rules/errors.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { createWebhookSecret, ROTATION_HOURS } from '../../rules/webhooks/registry.ts';
import type { Db, Trx } from '../connection.ts';
import { recordDeletedRow } from '../records/deleted-rows.ts';
import { requireRow } from '../records/required.ts';
import type { RowOf } from '../schema/database.ts';
import type { EndpointStatus } from '../schema/webhooks.ts';

export interface WebhookEndpoint {
  id: string;
  /** The URL with its password masked. */
  url: string;
  /** The events that the endpoint receives: names, prefixes such as `email.*`, or `*` for all. */
  events: string[];
  description: string | null;
  status: EndpointStatus;
  disabledReason: string | null;
  failuresInRow: number;
  createdAt: Date;
  updatedAt: Date;
}

export interface EndpointRef {
  projectId: string;
  id: string;
}

const COLUMNS = [
  'id',
  'url',
  'events',
  'description',
  'status',
  'disabled_reason',
  'failures_in_row',
  'created_at',
  'updated_at',
] as const;

type EndpointRow = RowOf<'webhook_endpoints', typeof COLUMNS>;

/** The maximum number of endpoints of a project, far more than it needs. Each event is compared with all endpoints. */
const ENDPOINTS_MAX = 100;

/** The encryption context of an endpoint's secret. */
export const endpointSecretContext = (id: string): string => `webhook_endpoints.secret:${id}`;
/** The encryption context of the password in an endpoint's URL. */
export const endpointUrlContext = (id: string): string => `webhook_endpoints.url:${id}`;

/**
 * Registers an endpoint. Later responses do not contain the endpoint's secret.
 * @throws AppError CONFLICT when the project has reached its limit
 */
export async function insertEndpoint(
  trx: Trx,
  p: { projectId: string; url: string; events: string[]; description: string | null; atRestKey: Buffer },
): Promise<WebhookEndpoint & { secret: string }> {
  const { count } = await trx
    .selectFrom('webhook_endpoints')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('project_id', '=', p.projectId)
    .executeTakeFirstOrThrow();
  if (count >= ENDPOINTS_MAX) {
    throw new AppError('CONFLICT', {
      message: `A project has at most ${ENDPOINTS_MAX} webhook endpoints.`,
      details: { count, most: ENDPOINTS_MAX },
      suggestion: 'Delete an unused endpoint first, or add the events to an existing one.',
    });
  }
  const id = uuidv7();
  const secret = createWebhookSecret();
  const { url, sealed } = sealUrl({ key: p.atRestKey, context: endpointUrlContext(id), url: p.url, field: 'url' });
  const row = await trx
    .insertInto('webhook_endpoints')
    .values({
      id,
      project_id: p.projectId,
      url,
      url_secret: sealed,
      events: p.events,
      description: p.description,
      secret: sealSecret(p.atRestKey, endpointSecretContext(id), secret),
    })
    .returning(COLUMNS)
    .executeTakeFirst();
  return { ...toEndpoint(row), secret };
}

/** Lists all endpoints of a project, newest first. */
export async function listEndpoints(db: Db, projectId: string): Promise<WebhookEndpoint[]> {
  const rows = await db
    .selectFrom('webhook_endpoints')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .orderBy('id', 'desc')
    .execute();
  return rows.map(toEndpoint);
}

/**
 * Returns one endpoint.
 * @throws AppError NOT_FOUND
 */
export async function getEndpoint(db: Db, { projectId, id }: EndpointRef): Promise<WebhookEndpoint> {
  const row = await db
    .selectFrom('webhook_endpoints')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  return toEndpoint(row);
}

/**
 * Changes an endpoint. Enabling a disabled endpoint clears its failures. If the password in `url` is masked, the stored
 * password stays.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR for a masked password if no password is stored for this host
 */
export async function updateEndpoint(
  trx: Trx,
  p: EndpointRef & {
    atRestKey: Buffer;
    url?: string | undefined;
    events?: string[] | undefined;
    description?: string | null | undefined;
    enabled?: boolean | undefined;
  },
): Promise<WebhookEndpoint> {
  const stored = p.url === undefined ? undefined : await resealUrl(trx, { ...p, url: p.url });
  const { rows } = await sql<EndpointRow>`
    UPDATE webhook_endpoints SET url = coalesce(${stored?.url ?? null}, url),
      url_secret = CASE WHEN ${stored !== undefined} THEN ${stored?.sealed ?? null} ELSE url_secret END, events = coalesce(${p.events ?? null}::text[], events),
      description = CASE WHEN ${p.description !== undefined} THEN ${p.description ?? null} ELSE description END,
      status = CASE WHEN ${p.enabled === false} THEN 'DISABLED'
        WHEN ${p.enabled === true} AND status = 'DISABLED' THEN 'ACTIVE' ELSE status END,
      disabled_reason = CASE WHEN ${p.enabled === false} THEN 'manual' WHEN ${p.enabled === true} THEN NULL ELSE disabled_reason END,
      failures_in_row = CASE WHEN ${p.enabled === true} AND status = 'DISABLED' THEN 0 ELSE failures_in_row END,
      failing_since = CASE WHEN ${p.enabled === true} AND status = 'DISABLED' THEN NULL ELSE failing_since END,
      wakes_at = CASE WHEN ${p.enabled === true} THEN NULL ELSE wakes_at END,
      probe_at = CASE WHEN ${p.enabled === true} AND status = 'DISABLED' THEN NULL ELSE probe_at END,
      updated_at = now()
    WHERE project_id = ${p.projectId} AND id = ${p.id}
    RETURNING ${sql.raw(COLUMNS.join(', '))}
  `.execute(trx);
  return toEndpoint(rows[0]);
}

/**
 * Returns the URL to store, with the stored password if the new URL has a masked one. Locks the row, so that the stored
 * password does not change in the meantime.
 * @throws AppError NOT_FOUND
 */
async function resealUrl(trx: Trx, p: EndpointRef & { url: string; atRestKey: Buffer }): Promise<StoredUrl> {
  const { rows } = await sql<StoredUrl>`
    SELECT url, url_secret AS sealed FROM webhook_endpoints WHERE project_id = ${p.projectId} AND id = ${p.id} FOR UPDATE
  `.execute(trx);
  const current = requireRow(rows[0]);
  return sealUrl({ key: p.atRestKey, context: endpointUrlContext(p.id), url: p.url, current, field: 'url' });
}

/**
 * Deletes an endpoint with its deliveries.
 * @throws AppError NOT_FOUND
 */
export async function deleteEndpoint(trx: Trx, { projectId, id }: EndpointRef): Promise<void> {
  const { numDeletedRows } = await trx
    .deleteFrom('webhook_endpoints')
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!numDeletedRows) throw new AppError('NOT_FOUND');
  await recordDeletedRow(trx, { projectId, id, status: 'DELETED' });
}

/**
 * Gives an endpoint a new secret. For one day, deliveries are also signed with the old secret.
 * @throws AppError NOT_FOUND
 */
export async function rotateSecret(
  db: Db,
  p: EndpointRef & { atRestKey: Buffer },
): Promise<WebhookEndpoint & { secret: string }> {
  const secret = createWebhookSecret();
  const row = await db
    .updateTable('webhook_endpoints')
    .set(({ ref }) => ({
      previous_secret: ref('secret'),
      previous_until: sql`now() + make_interval(hours => ${ROTATION_HOURS})`,
      secret: sealSecret(p.atRestKey, endpointSecretContext(p.id), secret),
      updated_at: sql`now()`,
    }))
    .where('project_id', '=', p.projectId)
    .where('id', '=', p.id)
    .returning(COLUMNS)
    .executeTakeFirst();
  return { ...toEndpoint(row), secret };
}

function toEndpoint(found: EndpointRow | undefined): WebhookEndpoint {
  const row = requireRow(found);
  return {
    id: row.id,
    url: row.url,
    events: row.events,
    description: row.description,
    status: row.status,
    disabledReason: row.disabled_reason,
    failuresInRow: row.failures_in_row,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
