import type { StepFault } from '../graph/faults.ts';
import type { AnyStepConfig } from '../graph/graph.ts';

/** Props of each step type's form. */
export interface FormProps {
  config: AnyStepConfig;
  /** Sets keys of the config; undefined removes a key. */
  set: (changes: AnyStepConfig) => void;
  /** Replaces the config. */
  replace: (config: AnyStepConfig) => void;
  /** The API's error of a field, by its path below `config`. */
  faultAt: (...fields: string[]) => string | undefined;
  faults: readonly StepFault[];
  readOnly: boolean;
  /** The event that starts the automation; empty if none does. */
  eventName: string;
}

/** Returns the config without the fields that its form shows. */
export function withoutFields(config: AnyStepConfig, fields: readonly string[]): AnyStepConfig {
  return Object.fromEntries(Object.entries(config).filter(([key]) => !fields.includes(key)));
}

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** An empty input means that the key is absent. */
export const undefinedIfEmpty = (value: string): string | undefined => (value === '' ? undefined : value);

/** Returns the config with changes; undefined removes a key. */
export function changeConfig(config: AnyStepConfig, changes: AnyStepConfig): AnyStepConfig {
  return Object.fromEntries(Object.entries({ ...config, ...changes }).filter(([, value]) => value !== undefined));
}

/** Returns the value if it is an object; undefined for any other value. */
export function asObject(value: unknown): AnyStepConfig | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as AnyStepConfig) : undefined;
}
