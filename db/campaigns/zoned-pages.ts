import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { ZONE_PATTERN, zoneOf } from '../../rules/time/zones.ts';
import type { Trx } from '../connection.ts';

/**
 * The number of contacts in a page that is divided by zone. It is large enough that the chunks of 40 zones are worth an
 * activity each, and small enough that a pause does not wait long for the page.
 */
export const ZONED_PAGE_CONTACTS = 30_000;
/** About 600 zone names exist. Contacts with a name beyond this number use the project's zone. */
const NAMES_MAX = 2_000;

/** The zone names in the data of a page's contacts, and the canonical name of each zone. */
export interface PageZones {
  names: string[];
  zones: string[];
}

/** Recipients with consecutive ids in the same time zone. Null is the project's zone. */
export interface ZonedChunk {
  zone: string | null;
  first: string;
  last: string;
  size: number;
}

/**
 * Finds the zones of a page's contacts. A contact whose zone changes before the page is inserted may use the
 * project's zone.
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
  const known = rows.flatMap(({ name }) => {
    const zone = zoneOf(name);
    return zone === undefined ? [] : [{ name, zone }];
  });
  return { names: known.map(({ name }) => name), zones: known.map(({ zone }) => zone) };
}

/**
 * Builds the CTEs for a page of the ledger: `page`, the next contacts of the audience, and `zoned` (id, refused,
 * zone), each with the reason to skip it and its time zone. Both are null if they do not apply.
 * @param p.refused the reason, of a row `page` (id, subscribed, email)
 */
export function checkedPage(p: {
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
    ), zoned AS MATERIALIZED (${zonedRows(p.zones)})`;
}

function zonedRows(zones: PageZones | undefined): RawBuilder<unknown> {
  if (!zones) return sql`SELECT judged.id, judged.refused, NULL::text AS zone FROM judged`;
  return sql`
    SELECT judged.id, judged.refused, z.zone
    FROM judged LEFT JOIN unnest(${zones.names}::text[], ${zones.zones}::text[]) AS z (name, zone) ON z.name = judged.name`;
}

/** Returns the chunks of a page whose rows are `taken` (id, contact_id), as JSON. */
export function zonedChunks(zones: PageZones | undefined, maxRows: number): RawBuilder<ZonedChunk[] | null> {
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
