import { createHash } from 'node:crypto';
import { z } from 'zod';
import { findConfigErrors, type PassedStep, type StepConfig } from './definition.ts';

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
      ctx.addIssue({
        code: 'custom',
        path: [index, 'name'],
        message: `Two branches are named “${name}”. Each branch needs its own name.`,
      });
    }
    if (branches.every(({ weight }) => weight === 0))
      ctx.addIssue({ code: 'custom', message: 'At least one branch needs a weight above 0.' });
  });

/** The config of a SPLIT step: the names and weights of its branches. */
export const SplitConfig = z.object({ branches: SplitBranches });

/**
 * Assigns each contact to one of several branches, in proportion to the weights of the branches. A contact always takes
 * the same branch, as long as the branch exists.
 */
export const split: PassedStep = {
  kind: 'passed',
  input: SplitConfig,
  older: null,
  faults: ({ config }) => findConfigErrors(SplitConfig, config),
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
 * Returns the branch of a contact at a SPLIT step: the branch of the contact's last visit if it still exists. Otherwise
 * the branch is computed from the ids of contact and step, so that a repeated computation has the same result. A
 * changed weight therefore does not affect contacts that have reached the step before.
 * @param taken the branch of the contact's last visit, if there was one
 */
export function chooseBranch(
  config: StepConfig,
  { contactId, stepId, taken }: { contactId: string; stepId: string; taken?: string | undefined },
): string {
  const { branches } = SplitConfig.parse(config);
  if (taken !== undefined && branches.some(({ name }) => name === taken)) return taken;
  const weighted = branches.filter(({ weight }) => weight > 0);
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
  let remaining = hashToFraction(contactId, stepId) * total;
  const chosen = weighted.find(({ weight }) => {
    remaining -= weight;
    return remaining < 0;
  });
  // If no branch is found, the reason is a rounding error, and the last branch is right.
  return (chosen ?? weighted.at(-1))?.name ?? '';
}

/**
 * Returns a pseudorandom number from 0 to below 1. The numbers of all contacts are evenly distributed, and the numbers
 * of one contact at different steps are independent.
 */
function hashToFraction(contactId: string, stepId: string): number {
  return createHash('sha256').update(`${stepId}:${contactId}`).digest().readUIntBE(0, 6) / 2 ** 48;
}
