import type { StepFault } from '../graph/faults.ts';
import type { Config } from '../graph/graph.ts';

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
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** An empty input is a key that is not there. */
export const orNone = (value: string): string | undefined => (value === '' ? undefined : value);

/** The config with changes; a key that is undefined goes. */
export function configWith(config: Config, changes: Config): Config {
  return Object.fromEntries(Object.entries({ ...config, ...changes }).filter(([, value]) => value !== undefined));
}
