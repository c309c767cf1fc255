import type { EventField } from '../event-data/event-fields.ts';
import {
  ACTIVITY_FIELDS,
  type ConditionScope,
  type FieldKind,
  findFieldKind,
  getFixedType,
  type Operator,
  toDataPath,
  type ValueType,
} from './language.ts';

/** A field that a filter can name. */
export interface FieldChoice {
  field: string;
  kind: FieldKind;
  /** The label that users see; for a segment, the name of the segment. */
  label: string;
  /** Type of the field's values, if known. */
  type?: ValueType | undefined;
  /** Values that the field has had, if known. */
  values?: readonly string[];
}

/** Fields that a project can choose from, as the API lists them. */
export interface FieldSources {
  contactFields: readonly { field: string; type: string }[];
  eventNames: readonly string[];
  segments: readonly { id: string; name: string }[];
  topics: readonly { id: string; name: string }[];
  /** Keys of the data of events, as `event.<key>`. Only for a step. */
  eventFields?: readonly { field: string; type: string }[];
}

/** Returns a choice for every field of the project, ordered by kind. */
export function listFieldChoices(p: FieldSources): FieldChoice[] {
  const typed = ({ field, type }: { field: string; type: string }, kind: FieldKind): FieldChoice => ({
    field,
    kind,
    label: getFieldLabel(field, kind),
    type: getFixedType(kind) ?? toValueType(type),
  });
  return [
    ...p.contactFields.flatMap((contactField) => {
      const kind = findFieldKind(contactField.field, 'exists', 'audience');
      return kind ? [typed(contactField, kind)] : [];
    }),
    ...p.eventNames.map((name) => ({ field: `event.${name}`, kind: 'event' as const, label: name })),
    ...ACTIVITY_FIELDS.map((field) => ({ field, kind: 'activity' as const, label: field })),
    ...p.segments.map(({ id, name }) => ({ field: `segment.${id}`, kind: 'segment' as const, label: name })),
    ...p.topics.map(({ id, name }) => ({ field: `topic.${id}`, kind: 'topic' as const, label: name, type: TRUTH })),
    ...(p.eventFields ?? []).map((eventField) => typed(eventField, 'payload')),
  ];
}

/** Returns the fields of one event's data. A step that waits for the event can filter only by these fields. */
export function listEventFieldChoices(fields: readonly EventField[]): FieldChoice[] {
  return fields.map(({ path, type, values }) => ({
    field: `event.${path}`,
    kind: 'payload',
    label: path,
    type: toValueType(type),
    values,
  }));
}

const TRUTH: ValueType = 'boolean';

/**
 * Returns choices for a field that is not in the list, as a user writes it: a path into data, or an event that has
 * not occurred yet. Empty if the text cannot be a field.
 */
export function createTypedChoices(text: string, scope: ConditionScope): FieldChoice[] {
  const name = text.trim();
  if (name === '') return [];
  if (scope === 'wait') {
    const field = `event.${toDataPath(name)}`;
    return findFieldKind(field, 'equals', scope) ? [{ field, kind: 'payload', label: toDataPath(name) }] : [];
  }
  const choicesWith = (operator: Operator) => {
    const kind = findFieldKind(name, operator, scope);
    return kind ? [{ field: name, kind, label: getFieldLabel(name, kind), type: getFixedType(kind) }] : [];
  };
  const written = [...choicesWith('exists'), ...choicesWith('triggered')];
  const choices = written.filter(({ kind }, n) => written.findIndex((other) => other.kind === kind) === n);
  if (choices.length > 0 || !/^[^\s.]+(\.[^\s.]+)*$/.test(name)) return choices;
  return [{ field: `data.${name}`, kind: 'data', label: name }];
}

/**
 * Returns the choice for the field of a row; undefined if the row has no field yet. If `choices` lacks the field (a
 * deleted segment, a path into data), this function creates a choice from the field.
 */
export function findFieldChoice(
  row: { field: string; operator: Operator },
  choices: readonly FieldChoice[],
  scope: ConditionScope,
): FieldChoice | undefined {
  if (row.field === '') return undefined;
  if (scope === 'wait') {
    const [written = { field: row.field, kind: 'payload', label: row.field }] = createTypedChoices(row.field, scope);
    return choices.find(({ field }) => field === written.field) ?? written;
  }
  const field = row.field.startsWith('contact.') ? row.field.slice('contact.'.length) : row.field;
  const kind = findFieldKind(field, row.operator, scope);
  if (!kind) return { field, kind: 'data', label: field };
  const match = choices.find((choice) => choice.field === field && choice.kind === kind);
  return match ?? { field, kind, label: getFieldLabel(field, kind), type: getFixedType(kind) };
}

/**
 * Returns a key that is unique among the choices. The field alone is not unique: in a step, `event.<x>` may be a key of
 * the event's data or an event of the contact.
 */
export function getChoiceKey({ kind, field }: Pick<FieldChoice, 'kind' | 'field'>): string {
  return `${kind}:${field}`;
}

function getFieldLabel(field: string, kind: FieldKind): string {
  if (kind === 'data') return field.slice('data.'.length);
  if (kind === 'event') return field.slice('event.'.length);
  return field;
}

function toValueType(type: string): ValueType | undefined {
  if (type === 'number' || type === 'boolean' || type === 'date') return type;
  return type === 'string' ? 'text' : undefined;
}
