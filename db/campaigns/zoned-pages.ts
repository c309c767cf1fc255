import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { toCanonicalZone, ZONE_PATTERN } from '../../rules/time/zones.ts';
import type { Trx } from '../connection.ts';

/**
 * The number of contacts in a page whose recipients are divided by time zone. Large enough that the chunks of 40 zones
 * justify one activity each, and small enough that a pause of the campaign does not wait long for the page.
 */
export const ZONED_PAGE_CONTACTS = 30_000;
/**
 * The maximum number of zone names in a page. About 600 names of zones exist. If a page has more names than this
 * maximum, contacts with the rarest names use the project's zone.
 */
const NAMES_MAX = 2_000;

/** The zone names in the data of a page's contacts, and the canonical name for each of them. */
export interface PageZones {
  names: string[];
  zones: string[];
}

/** Recipients with consecutive ids in the same time zone. A null zone means the project's zone. */
export interface ZonedChunk {
  zone: string | null;
  first: string;
  last: string;
  size: number;
}

/**
 * Finds the zones of a page's contacts. If a contact's zone changes before the page is inserted, the contact may get
 * the project's zone.
 */
export async function findPageZones(
  trx: Trx,
  p: { predicate: RawBuilder<SqlBool>; contacts: number },
): Promise<PageZones> {
  const { rows } = await sql<{ name: string }>`
    WITH page AS MATERIALIZED (
      SELECT contacts.data->>'timezone' AS name FROM contacts WHERE ${p.predicate} ORDER BY contacts.id LIMIT ${p.contacts})
    SELECT name FROM page WHERE name ~ ${ZONE_PATTERN} GROUP BY name ORDER BY count(*) DESC LIMIT ${NAMES_MAX}
  `.execute(trx);
  const canonical = rows.flatMap(({ name }) => {
    const zone = toCanonicalZone(name);
    return zone === undefined ? [] : [{ name, zone }];
  });
  return { names: canonical.map(({ name }) => name), zones: canonical.map(({ zone }) => zone) };
}

/**
 * Builds the CTEs for a page of the ledger. `page` has the next contacts of the audience. `zoned` (id, refused, zone)
 * has for each contact the reason to skip it, and its time zone; both may be null.
 * @param p.refused SQL for the reason, for a row of `page` (id, subscribed, email)
 */
export function checkedPageSql(p: {
  predicate: RawBuilder<SqlBool>;
  refused: RawBuilder<string | null>;
  contacts: number;
  zones: PageZones | undefined;
}): RawBuilder<unknown> {
  return sql`page AS MATERIALIZED (
      SELECT contacts.id, contacts.subscribed, contacts.email, ${p.zones ? sql`contacts.data->>'timezone'` : sql`NULL`} AS name
      FROM contacts WHERE ${p.predicate} ORDER BY contacts.id LIMIT ${p.contacts}
    ), judged AS MATERIALIZED (
      SELECT page.id, page.name, ${p.refused} AS refused FROM page
    ), zoned AS MATERIALIZED (${selectZonedRows(p.zones)})`;
}

function selectZonedRows(zones: PageZones | undefined): RawBuilder<unknown> {
  if (!zones) return sql`SELECT judged.id, judged.refused, NULL::text AS zone FROM judged`;
  return sql`
    SELECT judged.id, judged.refused, z.zone
    FROM judged LEFT JOIN unnest(${zones.names}::text[], ${zones.zones}::text[]) AS z (name, zone) ON z.name = judged.name`;
}

/**
 * Returns SQL for the chunks of a page, as JSON. The SQL returns NULL if the page is not divided by time zone. The CTE
 * `taken` (id, contact_id) has the page's rows.
 */
export function zonedChunksSql(zones: PageZones | undefined, maxRows: number): RawBuilder<ZonedChunk[] | null> {
  if (!zones) return sql`NULL::jsonb`;
  return sql`(
    SELECT jsonb_agg(jsonb_build_object('zone', g.zone, 'first', g.ids[1], 'last', g.ids[cardinality(g.ids)], 'size', cardinality(g.ids)) ORDER BY g.ids[1])
    FROM (
      SELECT n.zone, array_agg(n.id ORDER BY n.id) AS ids
      FROM (
        SELECT t.id, z.zone, (row_number() OVER (PARTITION BY z.zone ORDER BY t.id) - 1) / ${maxRows}::int AS part
        FROM taken t JOIN zoned z ON z.id = t.contact_id) n
      GROUP BY n.zone, n.part) g)`;
}
