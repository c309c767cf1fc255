import { type Kysely, sql } from 'kysely';
import type { Data } from '../domain/data-values.ts';
import { buildVariables, type ContactUrls } from '../domain/variables.ts';
import type { Database } from './schema.ts';

export interface StepVariables {
  contact: { id: string; email: string; subscribed: boolean; data: Data };
  variables: Data;
  /** Names whose values the public key wrote: plain text only, never a link target or a header (decisions §2). */
  untrusted: ReadonlySet<string>;
}

/** What a step can name: the contact as it is now, the trigger's payload and the manual context. */
export async function loadStepVariables(
  db: Kysely<Database>,
  execution: {
    projectId: string;
    contactId: string;
    event: Record<string, unknown>;
    context: Record<string, unknown>;
    untrusted: boolean;
  },
  urls?: ContactUrls,
): Promise<StepVariables> {
  const { rows } = await sql<StepVariables['contact'] & { untrustedKeys: string[] }>`
    SELECT id, email, subscribed, data, untrusted_keys AS "untrustedKeys" FROM contacts
    WHERE project_id = ${execution.projectId} AND id = ${execution.contactId}
  `.execute(db);
  const row = rows[0] ?? { id: execution.contactId, email: '', subscribed: false, data: {}, untrustedKeys: [] };
  const { untrustedKeys, ...contact } = row;
  const fromEvent = execution.untrusted ? ['event', ...Object.keys(execution.event)] : [];
  return {
    contact,
    variables: buildVariables({ contact, event: execution.event, context: execution.context, ...(urls && { urls }) }),
    untrusted: new Set([...untrustedKeys, ...fromEvent]),
  };
}
