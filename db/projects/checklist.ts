import { sql } from 'kysely';
import { isSystemEvent } from '../../rules/events/event-names.ts';
import type { Db } from '../connection.ts';
import { listEventNames } from '../workflows/workflow-fields.ts';

/** The first steps of a new project, in the order in which the dashboard shows them. */
export const CHECKLIST = ['domain', 'contact', 'template', 'mail', 'event', 'automation'] as const;
export type ChecklistItem = (typeof CHECKLIST)[number];

/**
 * The number of a project's oldest emails that are checked to find out whether the project has sent email. Checking for
 * the event `email.sent` would not be enough, because events may have been pruned.
 */
const FIRST_EMAILS = 100;

/**
 * Tells which steps a project has done. Checks only whether a matching row exists, and does not count rows. Finds event
 * names by skipping through the index of names.
 */
export async function readChecklist(db: Db, projectId: string): Promise<Record<ChecklistItem, boolean>> {
  const { rows } = await sql<Record<Exclude<ChecklistItem, 'event'>, boolean>>`
    SELECT
      EXISTS (SELECT FROM domains WHERE project_id = ${projectId} AND status = 'VERIFIED') AS domain,
      EXISTS (SELECT FROM contacts WHERE project_id = ${projectId}) AS contact,
      EXISTS (SELECT FROM templates WHERE project_id = ${projectId}) AS template,
      EXISTS (SELECT FROM (SELECT sent_at FROM emails WHERE project_id = ${projectId} ORDER BY id LIMIT ${FIRST_EMAILS}) m
        WHERE sent_at IS NOT NULL) AS mail,
      EXISTS (SELECT FROM workflows WHERE project_id = ${projectId} AND enabled) AS automation
  `.execute(db);
  const names = await listEventNames(db, projectId);
  const [found] = rows;
  if (!found) throw new Error('a SELECT without FROM has one row');
  return {
    ...found,
    mail: found.mail || names.includes('email.sent'),
    event: names.some((name) => !isSystemEvent(name)),
  };
}
