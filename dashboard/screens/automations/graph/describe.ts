import { automations } from '../../../text/automations.ts';
import { type Config, type Step, splitBranches } from './graph.ts';

const t = automations.summary;
const str = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What a step does, in a line: what the node shows below its name. Empty where nothing is set. */
export function describeStep({ type, config }: Pick<Step, 'type' | 'config'>, templates?: Map<string, string>): string {
  switch (type) {
    case 'SEND_EMAIL':
      return templates?.get(str(config.templateId)) ?? (config.templateId ? t.template : t.noTemplate);
    case 'SEND_SMS':
      return str(config.body) || t.noText;
    case 'DELAY':
      return describeDelay(config);
    case 'WAIT_FOR_EVENT':
      return t.waitFor(str(config.eventName), describeSeconds(config.timeout));
    case 'CONDITION':
      return describeCondition(config);
    case 'SPLIT':
      return splitBranches(config)
        .map(({ name, weight }) => `${name} ${weight}`)
        .join(' · ');
    case 'WEBHOOK':
      return [str(config.method) || 'POST', str(config.url)].join(' ');
    case 'UPDATE_CONTACT':
      return describeUpdate(config);
    case 'EXIT':
      return str(config.reason);
  }
}

function describeDelay({ until, days, amount, unit }: Config): string {
  if (until !== undefined)
    return t.until(str(until), Array.isArray(days) ? days.map((day) => t.days[Number(day) - 1] ?? '') : []);
  return amount === undefined ? '' : t.span(Number(amount), str(unit));
}

const SPANS = [
  ['weeks', 604_800],
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
] as const;

/** Seconds in the largest unit that has no rest; null where there are none. */
export function describeSeconds(seconds: unknown): string | null {
  if (typeof seconds !== 'number') return null;
  const found = SPANS.find(([, length]) => seconds >= length && seconds % length === 0);
  return found ? t.span(seconds / found[1], found[0]) : t.span(seconds, 'seconds');
}

/** A filter of a condition, as far as a line has to know. */
export interface SimpleFilter {
  field: string;
  operator: string;
  value?: unknown;
  unit?: string | undefined;
}

/**
 * The filters of a condition of one group, whichever form it has; undefined where it is more than a list of filters.
 */
export function simpleFilters(config: Config): { logic: 'AND' | 'OR'; filters: SimpleFilter[] } | undefined {
  if (typeof config.field === 'string') return { logic: 'AND', filters: [config as unknown as SimpleFilter] };
  if (Object.keys(config).length === 0) return { logic: 'AND', filters: [] };
  const { groups } = config;
  if (!Array.isArray(groups)) return undefined;
  const all = groups.map((group: { filters?: SimpleFilter[]; conditions?: unknown }) => group);
  if (all.some(({ conditions, filters }) => conditions || !filters || filters.length !== 1)) {
    const [only] = all;
    return all.length === 1 && only?.filters && !only.conditions ? { logic: 'AND', filters: only.filters } : undefined;
  }
  const logic = config.logic === 'OR' ? 'OR' : 'AND';
  return { logic, filters: all.flatMap(({ filters }) => filters ?? []) };
}

/** As the API takes it: each filter is a group of its own, joined by the logic. */
export function conditionOf(logic: 'AND' | 'OR', filters: SimpleFilter[]): Config {
  return { logic, groups: filters.map((filter) => ({ filters: [filter] })) };
}

function describeCondition(config: Config): string {
  const simple = simpleFilters(config);
  if (!simple) return t.condition;
  const parts = simple.filters.map(({ field, operator, value, unit }) =>
    [field, operator, value === undefined ? '' : String(value), unit ?? ''].filter(Boolean).join(' '),
  );
  return parts.join(simple.logic === 'OR' ? t.or : t.and);
}

function describeUpdate({ updates, subscribed }: Config): string {
  const names = typeof updates === 'object' && updates !== null ? Object.keys(updates) : [];
  const all = subscribed === undefined ? names : [...names, subscribed ? t.subscribes : t.unsubscribes];
  return all.join(', ');
}
