import { z } from 'zod';
import { refuseUnfilled } from '../../content/expressions.ts';
import { configFaults, type PassedStep } from './definition.ts';

const ExitConfig = z.object({ reason: z.string().max(200).superRefine(refuseUnfilled).optional() });

/** Ends the execution, with a reason that the tenant chooses. */
export const exit: PassedStep = {
  kind: 'passed',
  input: ExitConfig,
  older: z.object({ reason: z.string().max(200).optional() }),
  faults: ({ config }) => configFaults(ExitConfig, config),
  branches: () => [],
  names: [],
  secretsIn: [],
  sendsEmail: false,
  conditionAt: null,
  usesField: null,
  usesEvent: null,
};
