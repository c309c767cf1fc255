import { sql } from 'kysely';
import type { Db } from '../../db/connection.ts';
import { hasExpression } from '../../rules/content/expressions.ts';
import { buildVariables, type ContactUrls } from '../../rules/content/variables.ts';
import { type Exits, fillExits } from '../../rules/executions/exits.ts';
import type { SandboxState } from '../../rules/executions/run.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import { markTrusted, markUntrusted, markUntrustedIf, type Sourced } from '../../rules/provenance/provenance.ts';
import { buildRunClause } from './run-tables.ts';

export interface StepVariables {
  contact: { id: string; email: string; subscribed: boolean; data: Sourced<Data> };
  /**
   * The variables. Values that unauthenticated callers wrote are marked as untrusted. Untrusted values appear only as
   * plain text, never in a link target, an address or a header.
   */
  variables: Sourced<Data>;
}

/**
 * Loads the variables of a step: the contact's current data, the data of the event that started the execution, and the
 * context of a manual start. In a sandbox, the contact has the changes that the sandbox has made.
 */
export async function loadStepVariables(
  db: Db,
  execution: {
    projectId: string;
    contactId: string;
    event: Record<string, unknown>;
    context: Record<string, unknown>;
    untrusted: boolean;
    run: SandboxState | null;
  },
  urls?: ContactUrls,
): Promise<StepVariables> {
  const { rows } = await sql<{
    id: string;
    email: string;
    subscribed: boolean;
    data: Data;
    untrustedKeys: string[];
    zone: string;
  }>`
    ${buildRunClause(execution)} SELECT id, email, subscribed, data, untrusted_keys AS "untrustedKeys",
      (SELECT timezone FROM projects WHERE id = ${execution.projectId}) AS zone
    FROM contacts WHERE project_id = ${execution.projectId} AND id = ${execution.contactId}
  `.execute(db);
  const [row] = rows;
  const { id, email, subscribed } = row ?? { id: execution.contactId, email: '', subscribed: false };
  const contact = { id, email, subscribed, data: markUntrusted(row?.data ?? {}, row?.untrustedKeys) };
  const variables = buildVariables({
    contact,
    event: markUntrustedIf(execution.event, execution.untrusted),
    zone: row?.zone ?? 'UTC',
    context: markTrusted(execution.context), // Set only with a secret key or a session.
    ...(urls && { urls }),
  });
  return { contact, variables };
}

/** Replaces the variables in the filters of exits with the values of one execution, if the filters use variables. */
export async function fillExitVariables(
  db: Db,
  execution: Parameters<typeof loadStepVariables>[1],
  exits: Exits,
): Promise<Exits> {
  if (!hasExpression(exits.exitOn)) return exits;
  const { variables } = await loadStepVariables(db, execution);
  return { ...exits, exitOn: fillExits(exits.exitOn, variables) };
}
