import { sql } from 'kysely';
import type { Condition } from '../../rules/filters/filters.ts';
import { collectReferences, hasInstantFilter } from '../../rules/filters/references.ts';
import type { Db } from '../connection.ts';
import type { RowOf } from '../schema/database.ts';
import type { SegmentSource } from './filter-sql.ts';

/**
 * Loading stops after this many segments, the maximum number of a project's segments. The compiler also limits the
 * number of their filters.
 */
const MAX_SEGMENTS = 500;

/** The inputs of `compileCondition` that are read from Postgres. */
export interface ConditionSources {
  segments: Map<string, SegmentSource>;
  /** The project's time zone. Undefined if no filter compares instants. */
  zone: string | undefined;
}

/**
 * Loads the segments that a condition uses (`loadSegments`), and the project's time zone if a filter needs it. Most
 * conditions compare no instants and need no query for the zone.
 */
export async function loadConditionSources(
  db: Db,
  p: { projectId: string; condition: Condition },
): Promise<ConditionSources> {
  const segments = await loadSegments(db, p);
  const conditions = [...segments.values()].flatMap((source) => (source.kind === 'condition' ? source.condition : []));
  const zone = [p.condition, ...conditions].some(hasInstantFilter) ? await loadZone(db, p.projectId) : undefined;
  return { segments, zone };
}

async function loadZone(db: Db, projectId: string): Promise<string | undefined> {
  const { rows } = await sql<{ timezone: string }>`SELECT timezone FROM projects WHERE id = ${projectId}`.execute(db);
  return rows[0]?.timezone;
}

/**
 * Finds the segments that a condition uses, directly or through other segments, for `compileCondition`. STATIC and
 * tracked segments are represented by their stored members. An untracked segment is represented by its condition, and
 * so is a tracked one that was not computed since its condition changed. Unknown segments are absent from the map.
 */
async function loadSegments(
  db: Db,
  p: { projectId: string; condition: Condition },
): Promise<Map<string, SegmentSource>> {
  const { projectId, condition } = p;
  const sources = new Map<string, SegmentSource>();
  const asked = new Set<string>();
  let wanted = collectReferences(condition, 'step').segmentIds;
  while (wanted.length > 0 && asked.size < MAX_SEGMENTS) {
    for (const id of wanted) asked.add(id);
    const rows = await selectSegments(db, { projectId, ids: wanted });
    for (const row of rows)
      sources.set(row.id, row.condition ? { kind: 'condition', condition: row.condition } : MEMBERS);
    wanted = rows.flatMap((row) => (row.condition ? collectReferences(row.condition).segmentIds : []));
    wanted = [...new Set(wanted)].filter((id) => !asked.has(id));
  }
  return sources;
}

const MEMBERS: SegmentSource = { kind: 'members' };

type SegmentRow = RowOf<'segments', ['id', 'condition']>;

async function selectSegments(db: Db, p: { projectId: string; ids: readonly string[] }): Promise<SegmentRow[]> {
  const { rows } = await sql<SegmentRow>`
    SELECT id, CASE WHEN type = 'DYNAMIC' AND (NOT track_membership OR computed_at IS NULL) THEN condition END AS condition
    FROM segments WHERE project_id = ${p.projectId} AND id = ANY(${[...p.ids]}::uuid[])`.execute(db);
  return rows;
}
