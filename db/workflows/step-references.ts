import { sql } from 'kysely';
import type { NamedId, NamedKind } from '../../rules/as-code/references.ts';
import { AppError, createFieldError } from '../../rules/errors.ts';
import type { StepConfig } from '../../rules/executions/steps/definition.ts';
import { listNamedIds } from '../../rules/executions/steps/names.ts';
import { STEPS, type StepType } from '../../rules/executions/steps/registry.ts';
import type { Trx } from '../connection.ts';
import { getSenderDomain, listVerifiedDomains } from '../domains/senders.ts';

interface ConfiguredStep {
  type: StepType;
  config: StepConfig;
}

const TABLES: Record<NamedKind, string> = { template: 'templates', segment: 'segments', topic: 'topics' };
const KINDS = Object.keys(TABLES) as NamedKind[];

/**
 * Returns the id of the template that a step sends. Null if the step sends no template, or if no template is chosen
 * yet.
 */
export function getTemplateId(step: ConfiguredStep): string | null {
  return listNamedIds(step).find(({ kind }) => kind === 'template')?.id ?? null;
}

/**
 * Checks that the templates, segments, topics and senders in the configs of steps exist. Returns an error or undefined
 * for each step, in their order. Needs one statement per kind of resource and one for the senders, for any number of
 * steps.
 * @returns AppErrors VALIDATION_ERROR for an unknown id, DOMAIN_NOT_VERIFIED for a sender
 */
export async function findReferenceErrors(
  trx: Trx,
  p: { projectId: string; steps: readonly ConfiguredStep[] },
): Promise<(AppError | undefined)[]> {
  const { projectId, steps } = p;
  const asked = steps.map((step) => ({ ids: listNamedIds(step), sender: getStepSender(step) }));
  const known = await findKnownReferences(trx, { projectId, ids: asked.flatMap(({ ids }) => ids) });
  const domains = await listVerifiedDomains(trx, { projectId, senders: asked.flatMap(({ sender }) => sender ?? []) });
  return asked.map(({ ids, sender }) => {
    const missing = ids.find(({ kind, id }) => !known[kind].has(id.toLowerCase()));
    if (missing) return createFieldError(`config.${missing.field}`, `no ${missing.kind} of this project has this id`);
    if (!sender || domains.has(getSenderDomain(sender))) return undefined;
    return new AppError('DOMAIN_NOT_VERIFIED', { details: { from: sender } });
  });
}

function getStepSender({ type, config: { from } }: ConfiguredStep): string | null {
  if (!STEPS[type].sendsEmail) return null;
  return (typeof from === 'string' ? from : (from as { email?: string } | undefined)?.email) || null;
}

/** Returns the ids among these that exist in the project, by kind. */
async function findKnownReferences(
  trx: Trx,
  { projectId, ids }: { projectId: string; ids: NamedId[] },
): Promise<Record<NamedKind, Set<string>>> {
  const known = { template: new Set<string>(), segment: new Set<string>(), topic: new Set<string>() };
  for (const kind of KINDS) {
    const ofKind = new Set(ids.flatMap((named) => (named.kind === kind ? named.id : [])));
    if (ofKind.size === 0) continue;
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM ${sql.table(TABLES[kind])} WHERE project_id = ${projectId} AND id = ANY(${[...ofKind]}::uuid[])
    `.execute(trx);
    known[kind] = new Set(rows.map(({ id }) => id));
  }
  return known;
}
