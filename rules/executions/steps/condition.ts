import { StepConditionInput, StoredStepCondition } from '../../filters/filters.ts';
import { hasStoredReference } from '../../filters/references.ts';
import { findConfigErrors, type PassedStep } from './definition.ts';

/** Chooses a branch by a condition on the contact, which is checked when the execution reaches the step. */
export const condition: PassedStep = {
  kind: 'passed',
  input: StepConditionInput,
  older: StoredStepCondition,
  faults: ({ config }) => findConfigErrors(StepConditionInput, config),
  branches: () => ['yes', 'no'],
  names: 'condition',
  secretsIn: [],
  sendsEmail: false,
  conditionAt: [],
  usesField: (config, key) => hasStoredReference(config, { dataField: `data.${key}` }, 'step'),
  usesEvent: (config, eventName) => hasStoredReference(config, { eventName }, 'step'),
};
