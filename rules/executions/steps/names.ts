/**
 * Finds the resources of a project that the configs of steps refer to. Each step type declares where its config has
 * such references (`names`).
 */
import { type IdField, listIds, type NamedId } from '../../as-code/references.ts';
import { hasStoredReference } from '../../filters/references.ts';
import type { StepConfig } from './definition.ts';
import { STEP_TYPES, STEPS, type StepType } from './registry.ts';

interface ConfiguredStep {
  type: StepType;
  config: StepConfig;
}

/** Tells whether configs of a step type have this field. */
export function hasField(type: StepType, field: IdField): boolean {
  const { names } = STEPS[type];
  return names !== 'condition' && names.includes(field);
}

/** Lists the ids of templates, segments and topics that the fields of a config contain. */
export function listNamedIds({ type, config }: ConfiguredStep): NamedId[] {
  const { names } = STEPS[type];
  return names === 'condition' ? [] : listIds(config, names);
}

/** The step types whose configs can refer to a segment. */
export const TYPES_WITH_SEGMENTS = STEP_TYPES.filter(
  (type) => STEPS[type].names === 'condition' || hasField(type, 'segmentId'),
);

/** Tells whether a config refers to a segment, in a field or in its condition. */
export function usesSegment(step: ConfiguredStep, segmentId: string): boolean {
  if (STEPS[step.type].names === 'condition') return hasStoredReference(step.config, { segmentId }, 'step');
  return listNamedIds(step).some(({ kind, id }) => kind === 'segment' && id.toLowerCase() === segmentId.toLowerCase());
}
