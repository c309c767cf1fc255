import { sql } from 'kysely';
import type { CampaignStatus } from '../../rules/campaigns/campaign.ts';
import { toSegmentEventName } from '../../rules/events/event-names.ts';
import type { StepConfig } from '../../rules/executions/steps/definition.ts';
import { TYPES_WITH_SEGMENTS, usesSegment } from '../../rules/executions/steps/names.ts';
import type { StepType } from '../../rules/executions/steps/registry.ts';
import type { Condition } from '../../rules/filters/filters.ts';
import { collectReferences } from '../../rules/filters/references.ts';
import type { Db } from '../connection.ts';
import { listWorkflowsUsing, type NamedUse } from '../events/events.ts';
import { OPEN_CAMPAIGNS, UNFINISHED_CAMPAIGNS } from '../schema/campaign-status.ts';
import type { SegmentRef } from './segments.ts';

export interface CampaignUse extends NamedUse {
  status: CampaignStatus;
}

export interface SegmentUsage {
  /** Segments whose condition uses this segment. */
  usedInSegments: NamedUse[];
  /** Unfinished campaigns that send to this segment, or whose filter uses it. */
  usedInCampaigns: CampaignUse[];
  /** Workflows that use the segment in a step, or its events in a trigger, exit or wait. */
  usedInWorkflows: NamedUse[];
  /** True if no SCHEDULED, SENDING or PAUSED campaign uses the segment, directly or through another segment. */
  canDelete: boolean;
}

/** Lists the segments, campaigns and workflows that use a segment. */
export async function getSegmentUsage(db: Db, p: SegmentRef & { slug: string }): Promise<SegmentUsage> {
  const open = await listOpenCampaignsUsing(db, p);
  return {
    usedInSegments: await listReferringSegments(db, p),
    usedInCampaigns: await listReferringCampaigns(db, { ...p, ids: new Set([p.id]), statuses: UNFINISHED_CAMPAIGNS }),
    usedInWorkflows: await listReferringWorkflows(db, p),
    canDelete: open.length === 0,
  };
}

/**
 * Lists SCHEDULED, SENDING and PAUSED campaigns that use a segment: as their audience, in their filter, or through
 * another segment.
 */
export async function listOpenCampaignsUsing(db: Db, p: SegmentRef): Promise<CampaignUse[]> {
  return listReferringCampaigns(db, { ...p, ids: await findDependentIds(db, p), statuses: OPEN_CAMPAIGNS });
}

async function listReferringCampaigns(
  db: Db,
  p: { projectId: string; ids: ReadonlySet<string>; statuses: typeof OPEN_CAMPAIGNS },
): Promise<CampaignUse[]> {
  const { rows } = await sql<CampaignUse & { segment_id: string | null; audience_filter: Condition | null }>`
    SELECT id, name, status, segment_id, audience_filter FROM campaigns
    WHERE project_id = ${p.projectId} AND status IN ${p.statuses}
      AND (segment_id = ANY(${[...p.ids]}::uuid[]) OR audience_filter IS NOT NULL) ORDER BY id`.execute(db);
  const uses = rows.filter(
    ({ segment_id, audience_filter }) =>
      (segment_id !== null && p.ids.has(segment_id)) ||
      (audience_filter !== null && refersToAnySegment(audience_filter, p.ids)),
  );
  return uses.map(({ id, name, status }) => ({ id, name, status }));
}

async function listReferringSegments(db: Db, { projectId, id }: SegmentRef): Promise<NamedUse[]> {
  const rows = await listConditions(db, projectId);
  return rows.filter((row) => refersToAnySegment(row.condition, new Set([id]))).map(({ id, name }) => ({ id, name }));
}

async function listReferringWorkflows(
  db: Db,
  { projectId, id, slug }: SegmentRef & { slug: string },
): Promise<NamedUse[]> {
  const { rows } = await sql<NamedUse & { type: StepType; config: StepConfig }>`
    SELECT w.id, w.name, s.type, s.config FROM workflow_steps s JOIN workflows w ON w.id = s.workflow_id
    WHERE s.project_id = ${projectId} AND s.type = ANY(${TYPES_WITH_SEGMENTS}::text[]) ORDER BY w.id`.execute(db);
  const byStep = rows.filter((step) => usesSegment(step, id));
  const byEvent = [
    ...(await listWorkflowsUsing(db, { projectId, name: toSegmentEventName(slug, 'entry') })),
    ...(await listWorkflowsUsing(db, { projectId, name: toSegmentEventName(slug, 'exit') })),
  ];
  const using = [...byStep, ...byEvent].map(({ id, name }) => [id, { id, name }] as const);
  return [...new Map(using).values()];
}

/** Returns the ids of the segment and of all segments that use it, directly or through other segments. */
async function findDependentIds(db: Db, { projectId, id }: SegmentRef): Promise<Set<string>> {
  const rows = await listConditions(db, projectId);
  const ids = new Set([id]);
  for (let size = 0; size < ids.size; ) {
    size = ids.size;
    for (const row of rows) if (refersToAnySegment(row.condition, ids)) ids.add(row.id);
  }
  return ids;
}

async function listConditions(db: Db, projectId: string): Promise<(NamedUse & { condition: Condition })[]> {
  const { rows } = await sql<NamedUse & { condition: Condition }>`
    SELECT id, name, condition FROM segments WHERE project_id = ${projectId} AND condition IS NOT NULL ORDER BY id`.execute(
    db,
  );
  return rows;
}

function refersToAnySegment(condition: Condition, ids: ReadonlySet<string>): boolean {
  return collectReferences(condition).segmentIds.some((id) => ids.has(id));
}
