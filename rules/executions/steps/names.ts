/** What steps name of a project's resources, as their types say (`names`). */
import { type IdField, idsIn, type NamedId } from '../../as-code/references.ts';
import type { StepConfig } from './definition.ts';
import { STEPS, type StepType } from './registry.ts';

interface Configured {
  type: StepType;
  config: StepConfig;
}

/** Whether configs of a type have this field. */
export function hasField(type: StepType, field: IdField): boolean {
  const { names } = STEPS[type];
  return names !== 'condition' && names.includes(field);
}

/** The ids in the fields of a config. */
export function namedIds({ type, config }: Configured): NamedId[] {
  const { names } = STEPS[type];
  return names === 'condition' ? [] : idsIn(config, names);
}
