import { StepConditionInput, StoredStepCondition } from '../../filters/filters.ts';
import { storedConditionUses } from '../../filters/references.ts';
import { configFaults, type PassedStep } from './definition.ts';

/** Chooses a branch by a condition on the contact at that moment. */
export const condition: PassedStep = {
  kind: 'passed',
  input: StepConditionInput,
  older: StoredStepCondition,
  faults: ({ config }) => configFaults(StepConditionInput, config),
  branches: () => ['yes', 'no'],
  names: 'condition',
  secretsIn: [],
  sendsEmail: false,
  conditionAt: [],
  usesField: (config, key) => storedConditionUses(config, { dataField: `data.${key}` }, 'step'),
  usesEvent: (config, eventName) => storedConditionUses(config, { eventName }, 'step'),
};
