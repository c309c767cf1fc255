import { createHash } from 'node:crypto';
import { z } from 'zod';
import { configFaults, type PassedStep, type StepConfig } from './definition.ts';

const MAX_BRANCHES = 20;
const NAME_MAX_CHARS = 100;
const WEIGHT_MAX = 1_000_000;

const SplitBranches = z
  .array(z.object({ name: z.string().trim().min(1).max(NAME_MAX_CHARS), weight: z.number().min(0).max(WEIGHT_MAX) }))
  .min(2)
  .max(MAX_BRANCHES)
  .superRefine((branches, ctx) => {
    const names = branches.map(({ name }) => name);
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) === index) continue;
      ctx.addIssue({ code: 'custom', path: [index, 'name'], message: `two branches are named “${name}”` });
    }
    if (branches.every(({ weight }) => weight === 0))
      ctx.addIssue({ code: 'custom', message: 'one branch at least has a weight above 0' });
  });

/** Settings by which a SPLIT step divides contacts. */
export const SplitConfig = z.object({ branches: SplitBranches });

/**
 * Sends each contact to one of several branches, in proportion to their weights. A contact always takes the same
 * branch.
 */
export const split: PassedStep = {
  kind: 'passed',
  input: SplitConfig,
  older: null,
  faults: ({ config }) => configFaults(SplitConfig, config),
  branches: splitBranches,
  names: [],
  secretsIn: [],
  sendsEmail: false,
  conditionAt: null,
  usesField: null,
  usesEvent: null,
};

/** Returns the names of a stored config's branches. */
function splitBranches(config: StepConfig): string[] {
  const { data } = SplitConfig.safeParse(config);
  return data ? data.branches.map(({ name }) => name) : [];
}

/**
 * Returns the branch of a contact at a SPLIT: the branch of the last visit if it still exists, else one computed from
 * contact and step, so that a repeated decision is the same. A changed weight therefore applies only to later contacts.
 * @param taken the branch of the contact's last visit, if there was one
 */
export function chooseBranch(
  config: StepConfig,
  { contactId, stepId, taken }: { contactId: string; stepId: string; taken?: string | undefined },
): string {
  const { branches } = SplitConfig.parse(config);
  if (taken !== undefined && branches.some(({ name }) => name === taken)) return taken;
  const open = branches.filter(({ weight }) => weight > 0);
  const total = open.reduce((sum, { weight }) => sum + weight, 0);
  let left = placeOf(contactId, stepId) * total;
  const chosen = open.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  // The remainder after the last branch is a rounding error.
  return (chosen ?? open.at(-1))?.name ?? '';
}

/**
 * Returns a number from 0 to below 1. It is evenly distributed over contacts, and independent between the steps of one
 * contact.
 */
function placeOf(contactId: string, stepId: string): number {
  return createHash('sha256').update(`${stepId}:${contactId}`).digest().readUIntBE(0, 6) / 2 ** 48;
}
