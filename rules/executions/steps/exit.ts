import { z } from 'zod';
import { configFaults, type PassedStep } from './definition.ts';

const ExitConfig = z.object({ reason: z.string().max(200).optional() });

/** Ends the execution, for a reason of the tenant's. */
export const exit: PassedStep = {
  kind: 'passed',
  input: ExitConfig,
  faults: ({ config }) => configFaults(ExitConfig, config),
  branches: () => [],
  names: [],
  secretsIn: [],
  sendsEmail: false,
  conditionAt: null,
  usesField: null,
  usesEvent: null,
};
