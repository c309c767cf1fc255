import { sql } from 'kysely';
import { AppError, fieldError } from '../../rules/errors.ts';
import type { StepConfig } from '../../rules/executions/steps/definition.ts';
import { STEPS, type StepType } from '../../rules/executions/steps/registry.ts';
import type { Trx } from '../connection.ts';
import { domainOf, listVerifiedDomains } from '../domains/senders.ts';

interface Sending {
  type: StepType;
  config: StepConfig;
}

/** The template that a step sends; null of one that sends none, or has none yet. */
export function templateOf({ type, config: { templateId } }: Sending): string | null {
  return STEPS[type].takesTemplate && typeof templateId === 'string' ? templateId : null;
}

/**
 * What is wrong with what steps send: of each, in their order, an error or undefined. Two statements at the most,
 * however many they are.
 * @returns AppErrors VALIDATION_ERROR for an unknown template, DOMAIN_NOT_VERIFIED for a sender
 */
export async function findSendingFaults(
  trx: Trx,
  p: { projectId: string; steps: readonly Sending[] },
): Promise<(AppError | undefined)[]> {
  const { projectId, steps } = p;
  const asked = steps.map((step) => ({ templateId: templateOf(step), sender: senderOf(step) }));
  const templates = await listTemplates(trx, { projectId, ids: asked.flatMap(({ templateId }) => templateId ?? []) });
  const domains = await listVerifiedDomains(trx, { projectId, senders: asked.flatMap(({ sender }) => sender ?? []) });
  return asked.map(({ templateId, sender }) => {
    if (templateId && !templates.has(templateId.toLowerCase())) {
      return fieldError('config.templateId', 'no template of this project has this id');
    }
    if (!sender || domains.has(domainOf(sender))) return undefined;
    return new AppError('DOMAIN_NOT_VERIFIED', { details: { from: sender } });
  });
}

function senderOf({ type, config: { from } }: Sending): string | null {
  if (!STEPS[type].sendsEmail) return null;
  return (typeof from === 'string' ? from : (from as { email?: string } | undefined)?.email) || null;
}

async function listTemplates(trx: Trx, p: { projectId: string; ids: string[] }): Promise<Set<string>> {
  if (p.ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM templates WHERE project_id = ${p.projectId} AND id = ANY(${[...new Set(p.ids)]}::uuid[])
  `.execute(trx);
  return new Set(rows.map(({ id }) => id));
}
