import type { StepFault } from '../graph/faults.ts';
import type { AnyStepConfig, StepType } from '../graph/graph.ts';

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

/** Fields that the forms show; the whole config of a CONDITION step is the condition. */
const SHOWN: Record<Exclude<StepType, 'CONDITION'>, readonly string[]> = {
  SEND_EMAIL: ['templateId', 'from', 'recipient'],
  SEND_SMS: ['body', 'from', 'transactional'],
  DELAY: ['amount', 'unit', 'until', 'days', 'timezone'],
  WAIT_FOR_EVENT: ['eventName', 'timeout', 'filters', 'includeAutomatic'],
  SPLIT: ['branches'],
  WEBHOOK: ['url', 'method', 'headers', 'body', 'onFailure'],
  UPDATE_CONTACT: ['updates', 'subscribed'],
  EXIT: ['reason'],
};

/** Returns the part of a config that its form does not show; undefined if it shows everything. */
export function unshownOf(type: StepType, config: AnyStepConfig): AnyStepConfig | undefined {
  if (type === 'CONDITION') return undefined;
  const rest = Object.entries(config).filter(([key]) => !SHOWN[type].includes(key));
  return rest.length > 0 ? Object.fromEntries(rest) : undefined;
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** An empty input means that the key is absent. */
export const orNone = (value: string): string | undefined => (value === '' ? undefined : value);

/** Returns the config with changes; undefined removes a key. */
export function configWith(config: AnyStepConfig, changes: AnyStepConfig): AnyStepConfig {
  return Object.fromEntries(Object.entries({ ...config, ...changes }).filter(([, value]) => value !== undefined));
}

/** Returns the value if it is an object; undefined for any other value. */
export function groupOf(value: unknown): AnyStepConfig | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as AnyStepConfig) : undefined;
}
