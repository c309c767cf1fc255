import { z } from 'zod';
import { refuseExpressions } from '../../content/expressions.ts';
import { findConfigErrors, type PassedStep } from './definition.ts';

const ExitConfig = z.object({ reason: z.string().max(200).superRefine(refuseExpressions).optional() });

/** Ends the execution, with a reason that the tenant chooses. */
export const exit: PassedStep = {
  kind: 'passed',
  input: ExitConfig,
  older: z.object({ reason: z.string().max(200).optional() }),
  faults: ({ config }) => findConfigErrors(ExitConfig, config),
  branches: () => [],
  names: [],
  secretsIn: [],
  sendsEmail: false,
  conditionAt: null,
  usesField: null,
  usesEvent: null,
};
