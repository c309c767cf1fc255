import type { StepFault } from '../graph/faults.ts';
import type { Config, StepType } from '../graph/graph.ts';

/** What the form of a type of step is given. */
export interface FormProps {
  config: Config;
  /** Sets keys of the config; undefined takes one away. */
  set: (changes: Config) => void;
  /** Puts another config in its place. */
  replace: (config: Config) => void;
  /** What the API says of a field, by its path below `config`. */
  faultAt: (...fields: string[]) => string | undefined;
  faults: readonly StepFault[];
  readOnly: boolean;
  /** The event that begins the automation; empty where none does. */
  eventName: string;
}

/** What the forms of steps show; of a CONDITION the whole config is the condition. */
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

/** What a config has besides what its form shows; undefined where there is nothing. */
export function unshownOf(type: StepType, config: Config): Config | undefined {
  if (type === 'CONDITION') return undefined;
  const rest = Object.entries(config).filter(([key]) => !SHOWN[type].includes(key));
  return rest.length > 0 ? Object.fromEntries(rest) : undefined;
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** An empty input is a key that is not there. */
export const orNone = (value: string): string | undefined => (value === '' ? undefined : value);

/** The config with changes; a key that is undefined goes. */
export function configWith(config: Config, changes: Config): Config {
  return Object.fromEntries(Object.entries({ ...config, ...changes }).filter(([, value]) => value !== undefined));
}

/** A group of fields; undefined for anything else. */
export function groupOf(value: unknown): Config | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Config) : undefined;
}
