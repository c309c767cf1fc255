import type { Condition, Filter } from '../../../../packages/client/src/operations.generated.ts';
import type { ConditionScope } from '../../../parts/condition-builder/language.ts';
import { filterAsSentence } from '../../../parts/condition-builder/sentence.ts';
import { parseStoredCondition } from '../../../parts/condition-builder/stored.ts';
import { formatShare } from '../../../parts/count-link.tsx';
import { automations } from '../../../text/automations.ts';
import { type AnyStepConfig, getSplitBranches } from './graph.ts';

const t = automations.summary;
const str = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Summarizes a DELAY: its duration, or the time of day and the weekdays. */
export function summarizeDelay({ until, days, amount, unit }: AnyStepConfig): string {
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

/** Formats seconds in the largest unit that divides them; null if they are not a number. */
function describeSeconds(seconds: unknown): string | null {
  if (typeof seconds !== 'number') return null;
  const span = SPANS.find(([, length]) => seconds >= length && seconds % length === 0);
  return span ? t.span(seconds / span[1], span[0]) : t.span(seconds, 'seconds');
}

/** Summarizes a WAIT_FOR_EVENT: the event, its filters and the timeout. */
export function summarizeWait({ eventName, timeout, filters }: AnyStepConfig): string {
  const condition = parseStoredCondition(filters);
  const event = str(eventName) || '?';
  const eventWithFilters = condition ? t.where(event, describeFilters(condition, 'wait') ?? t.condition) : event;
  return t.waitFor(eventWithFilters, describeSeconds(timeout));
}

/** Summarizes a CONDITION as a sentence. Empty if it has no condition. */
export function summarizeCondition(config: AnyStepConfig): string {
  if (Object.keys(config).length === 0) return '';
  const condition = parseStoredCondition(config);
  return (condition && describeFilters(condition, 'step')) ?? t.condition;
}

/** Formats filters as one line; undefined if one line with only "and" or only "or" cannot express them. */
function describeFilters({ logic, groups }: Condition, scope: ConditionScope): string | undefined {
  if (groups.some(({ conditions }) => conditions)) return undefined;
  const [only] = groups;
  if (groups.length === 1 && only) return only.filters.map((filter) => describeFilter(filter, scope)).join(t.and);
  if (groups.some(({ filters }) => filters.length !== 1)) return undefined;
  const allFilters = groups.flatMap(({ filters }) => filters);
  return allFilters.map((filter) => describeFilter(filter, scope)).join(logic === 'OR' ? t.or : t.and);
}

/** Segments and topics are known only by id here, so the sentence names their kind. */
function describeFilter(filter: Filter, scope: ConditionScope): string {
  const [kind] = filter.field.split('.');
  if (kind === 'segment') return filter.operator === 'memberOf' ? t.inSegment : t.notInSegment;
  if (kind === 'topic') return (filter.operator === 'equals') === (filter.value === true) ? t.inTopic : t.notInTopic;
  return filterAsSentence(filter, [], scope);
}

/** Summarizes a SPLIT: each branch with its share. */
export function summarizeSplit(config: AnyStepConfig): string {
  const branches = getSplitBranches(config);
  const totalWeight = branches.reduce((sum, { weight }) => sum + weight, 0);
  return branches.map(({ name, weight }) => `${name} ${formatShare(weight, totalWeight)}`).join(' · ');
}

/** Summarizes an UPDATE_CONTACT: the fields that it changes, and their values except null, lists and objects. */
export function summarizeUpdate({ updates, subscribed }: AnyStepConfig): string {
  const fields = typeof updates === 'object' && updates !== null ? Object.entries(updates) : [];
  const names = fields.map(([name, value]) =>
    value === null || typeof value === 'object' ? name : `${name}: ${String(value)}`,
  );
  const changes = subscribed === undefined ? names : [...names, subscribed ? t.subscribes : t.unsubscribes];
  return changes.join(', ');
}

/** Summarizes a WEBHOOK: the URL without its scheme, and the method if it is not POST. */
export function summarizeWebhook({ method, url }: AnyStepConfig): string {
  const address = str(url).replace(/^https?:\/\//, '');
  return str(method) === '' || method === 'POST' ? address : `${str(method)} ${address}`;
}
