/**
 * The filter language of segments, audiences, CONDITION steps, waits and exits: its types, its limits, and the zod
 * schemas that parse it. A condition may have the simple or the full form, and is always parsed to the full form
 * (contract §5.1 Conditions). Negative operators match a contact that lacks the field, because a user who writes "plan
 * is not pro" also means contacts without a plan.
 */
import { z } from 'zod';
import { findUnexpectedExpressionError, hasExpression, listExpressionErrors } from '../content/expressions.ts';
import { toSearchForms } from '../emails/email-address.ts';
import { findImpossibleEventError, trimEventName } from '../events/event-names.ts';
import { declareForms } from '../input-forms.ts';
import { isParsingWithOlderRules } from '../stored-values.ts';
import { checkFilter } from './check.ts';
import { findConditionSizeError } from './condition-size.ts';
import { type FilterScope, OPERATORS, type Operator, parseField, UNITS, type Unit } from './fields.ts';
import { describeUnknownOperator } from './filter-names.ts';
import type { Scalar } from './values.ts';

/**
 * The maximum depth of nested conditions, where the outermost condition has depth 1. The maximum limits the depth of
 * the SQL and of every recursive function here.
 */
export const MAX_CONDITION_DEPTH = 10;
/**
 * The maximum number of filters in a whole condition. The maximum limits the number of parameters of an SQL statement.
 */
export const MAX_FILTERS = 500;

export type FilterValue = Scalar | Scalar[];

export interface Filter {
  field: string;
  operator: Operator;
  value?: FilterValue;
  unit?: Unit;
}

/** A contact matches a group if it matches all filters, and `conditions` if present. */
export interface Group {
  filters: Filter[];
  conditions?: Condition;
}

export interface Condition {
  logic: 'AND' | 'OR';
  groups: Group[];
}

const ScalarSchema = z.union([z.string(), z.number(), z.boolean()]);

/** The schema of a filter in storage and responses. */
const FilterSchema = z
  .object({
    field: z.string().meta({ description: 'email, subscribed, createdAt, updatedAt, data.<path>, event.<name>, …' }),
    operator: z.enum(OPERATORS),
    value: z.union([ScalarSchema, z.array(ScalarSchema)]).optional(),
    unit: z.enum(UNITS).optional(),
  })
  .meta({ id: 'Filter', example: { field: 'data.plan', operator: 'equals', value: 'pro' } });

/**
 * The schema of a condition in storage and responses, which is always in the full form. This schema is only for the
 * OpenAPI document. `ConditionInput` checks input.
 */
export const ConditionSchema: z.ZodType<Condition> = z
  .object({
    logic: z.enum(['AND', 'OR']),
    get groups() {
      return z.array(GroupSchema);
    },
  })
  .meta({
    id: 'Condition',
    description: `Groups joined by logic; the filters of a group are ANDed. At most ${MAX_CONDITION_DEPTH} deep and ${MAX_FILTERS} filters.`,
  });

const GroupSchema = z
  .object({
    filters: z.array(FilterSchema),
    get conditions() {
      return ConditionSchema.optional();
    },
  })
  .meta({ id: 'FilterGroup' });

/** Parses a new condition of a segment or an audience, in the simple or the full form. Checks its size. */
export const ConditionInput: z.ZodType<Condition, unknown> = z
  .unknown()
  .superRefine((input, ctx) => {
    const fault = findConditionSizeError(input);
    if (fault) ctx.addIssue({ code: 'custom', ...fault, params: { code: 'too_big' } });
  })
  .pipe(createInputSchema('audience'));

/** Parses the condition of a CONDITION step: a condition in either form, or a single filter. */
export const StepConditionInput = createInputSchema('step');

/**
 * Parses the filters of a WAIT_FOR_EVENT step or of an exit: a condition in either form, one filter, or an array of
 * filters that must all match.
 */
export const WaitFiltersInput = createInputSchema('wait');

/** Parses the stored condition of a CONDITION step. Accepts values that new conditions may not contain. */
export const StoredStepCondition = createConditionSchema('step', { isStored: true });

/** Parses the stored condition of a segment or an audience. Accepts values that new conditions may not contain. */
export const StoredCondition = createConditionSchema('audience', { isStored: true });

/**
 * Parses the stored filters of a WAIT_FOR_EVENT step. Expressions that new filters may not contain are kept as text.
 */
export const StoredWaitFilters = createConditionSchema('wait', { isStored: true });

/**
 * Parses a stored condition. Accepts names of events and values that new conditions may not contain.
 * @throws ZodError for an invalid condition
 */
export function parseCondition(input: unknown, scope: FilterScope = 'audience'): Condition {
  return createConditionSchema(scope, { isStored: true }).parse(input);
}

function createConditionSchema(scope: FilterScope, { isStored = false } = {}): z.ZodType<Condition, unknown> {
  return z.unknown().transform((input, ctx): Condition => {
    const reader = new ConditionReader(scope, isStored || isParsingWithOlderRules(), (issue) => ctx.issues.push(issue));
    const condition = reader.read(input);
    return ctx.issues.length > 0 ? z.NEVER : condition;
  });
}

/** Creates the schema of a new condition. The schema also declares the fields of a condition (`declareForms`). */
function createInputSchema(scope: FilterScope): z.ZodType<Condition, unknown> {
  return declareForms(createConditionSchema(scope), (input) => {
    if (scope === 'wait' && Array.isArray(input)) return z.array(FilterShape);
    return isSingleFilter(scope, input) ? FilterShape : ConditionForm;
  });
}

function isSingleFilter(scope: FilterScope, input: unknown): input is Record<string, unknown> {
  return scope !== 'audience' && isRecord(input) && 'field' in input;
}

function isSimpleForm(input: Record<string, unknown>): boolean {
  return 'operator' in input || (Array.isArray(input.conditions) && !('groups' in input));
}

type Path = (string | number)[];
type Report = (issue: z.core.$ZodRawIssue) => void;

const FilterShape = z.object({
  field: z.string().min(1).max(300),
  operator: z.enum(OPERATORS, {
    error: ({ input }) => (typeof input === 'string' ? describeUnknownOperator(input) : undefined),
  }),
  value: z
    .union([ScalarSchema, z.array(ScalarSchema).max(MAX_FILTERS), z.null()], { error: describeValueShapeError })
    .optional(),
  unit: z.enum(UNITS).nullish(),
});

const SimpleForm = z.object({ operator: z.unknown(), conditions: z.array(FilterShape) });

/** The fields of a condition. */
const ConditionForm: z.ZodType = declareForms(z.unknown(), (input) =>
  isRecord(input) && isSimpleForm(input) ? SimpleForm : FullForm,
);

const FullForm = z.object({
  logic: z.unknown(),
  groups: z.array(z.object({ filters: z.array(FilterShape), conditions: ConditionForm })),
});

/**
 * Parses a condition without zod's unions, which would only report "Invalid input". The keys show which form a
 * condition has, so each error is reported at its exact path. The depth is checked before each recursive call.
 */
class ConditionReader {
  readonly #scope: FilterScope;
  readonly #isStored: boolean;
  readonly #report: Report;
  #filters = 0;

  constructor(scope: FilterScope, isStored: boolean, report: Report) {
    this.#scope = scope;
    this.#isStored = isStored;
    this.#report = report;
  }

  read(input: unknown): Condition {
    if (this.#scope === 'wait' && Array.isArray(input)) {
      return { logic: 'AND', groups: [{ filters: this.#readFilters(input, []) }] };
    }
    if (isSingleFilter(this.#scope, input)) {
      return { logic: 'AND', groups: [{ filters: this.#readFilter(input, []) }] };
    }
    return this.#readCondition(input, [], 1);
  }

  #readCondition(input: unknown, path: Path, depth: number): Condition {
    if (depth > MAX_CONDITION_DEPTH) {
      this.#reportError(input, path, `Conditions nest at most ${MAX_CONDITION_DEPTH} deep.`);
    } else if (!isRecord(input)) {
      this.#report({ code: 'invalid_type', expected: 'object', input, path });
    } else if (isSimpleForm(input)) {
      return this.#readSimpleForm(input, path);
    } else {
      return { logic: this.#readLogic(input, 'logic', path), groups: this.#readGroups(input.groups, path, depth) };
    }
    return { logic: 'AND', groups: [] };
  }

  /**
   * Reads the simple form, `{ operator, conditions: [Filter] }`. AND becomes one group with all filters, and OR becomes
   * a group for each filter.
   */
  #readSimpleForm(input: Record<string, unknown>, path: Path): Condition {
    const logic = this.#readLogic(input, 'operator', path);
    const filters = this.#readFilters(input.conditions, [...path, 'conditions']);
    return { logic, groups: logic === 'AND' ? [{ filters }] : filters.map((filter) => ({ filters: [filter] })) };
  }

  #readLogic(input: Record<string, unknown>, key: string, path: Path): Condition['logic'] {
    const logic = input[key];
    if (logic === 'AND' || logic === 'OR') return logic;
    this.#report({ code: 'invalid_value', values: ['AND', 'OR'], input: logic, path: [...path, key] });
    return 'AND';
  }

  #readGroups(input: unknown, path: Path, depth: number): Group[] {
    const groupsPath = [...path, 'groups'];
    if (!Array.isArray(input)) {
      this.#report({ code: 'invalid_type', expected: 'array', input, path: groupsPath });
      return [];
    }
    if (input.length === 0) this.#reportTooFew(input, groupsPath);
    if (input.length > MAX_FILTERS) {
      this.#reportTooMany(input, groupsPath);
      return [];
    }
    return input.map((group, index) => this.#readGroup(group, [...groupsPath, index], depth));
  }

  #readGroup(input: unknown, path: Path, depth: number): Group {
    if (!isRecord(input)) {
      this.#report({ code: 'invalid_type', expected: 'object', input, path });
      return { filters: [] };
    }
    const nested = input.conditions ?? undefined;
    const optional = nested !== undefined && (input.filters === undefined || isEmptyArray(input.filters));
    const filters = optional ? [] : this.#readFilters(input.filters, [...path, 'filters']);
    if (nested === undefined) return { filters };
    return { filters, conditions: this.#readCondition(nested, [...path, 'conditions'], depth + 1) };
  }

  #readFilters(input: unknown, path: Path): Filter[] {
    if (!Array.isArray(input)) {
      this.#report({ code: 'invalid_type', expected: 'array', input, path });
      return [];
    }
    if (input.length === 0) this.#reportTooFew(input, path);
    const before = this.#filters;
    this.#filters += input.length;
    if (this.#filters <= MAX_FILTERS)
      return input.flatMap((filter, index) => this.#readFilter(filter, [...path, index]));
    if (before <= MAX_FILTERS) this.#reportTooMany(input, path);
    return [];
  }

  #readFilter(input: unknown, path: Path): Filter[] {
    const shape = FilterShape.safeParse(input);
    if (!shape.success) {
      for (const issue of shape.error.issues)
        this.#report({ ...issue, input: undefined, path: [...path, ...issue.path] });
      return [];
    }
    const { operator, value, unit } = shape.data;
    const field = this.#isStored ? shape.data.field : trimEventInField(shape.data.field);
    const filter: Filter = { field, operator };
    if (value !== undefined && value !== null) filter.value = this.#normalizeValue(filter, value);
    if (unit) filter.unit = unit;
    for (const fault of checkFilter(filter, this.#scope, this.#isStored))
      this.#reportError(input, [...path, fault.key], fault.message);
    if (this.#isStored) return [filter];
    this.#refuseImpossibleEvent(filter, input, path);
    this.#refuseExpressions(filter, input, path);
    return [filter];
  }

  /**
   * Refuses expressions (`{{ … }}`) in the field of a filter, and in the value of an audience filter. In steps and
   * exits, values may contain expressions, because an execution has variables. There, only expressions with errors are
   * refused.
   */
  #refuseExpressions({ field, value }: Filter, input: unknown, path: Path): void {
    const fieldError = findUnexpectedExpressionError(field);
    if (fieldError !== undefined) this.#reportError(input, [...path, 'field'], fieldError);
    if (this.#scope === 'audience') {
      const fault = [value]
        .flat()
        .flatMap((item) => (typeof item === 'string' && findUnexpectedExpressionError(item)) || [])[0];
      if (fault !== undefined) this.#reportError(input, [...path, 'value'], fault);
      return;
    }
    for (const fault of listExpressionErrors(value, [...path, 'value']))
      this.#reportError(input, fault.path, fault.message);
  }

  #refuseImpossibleEvent({ field, operator }: Filter, input: unknown, path: Path): void {
    const ref = parseField(field, operator, this.#scope);
    const message = ref?.kind === 'event' ? findImpossibleEventError(ref.name) : undefined;
    if (message !== undefined) this.#reportError(input, [...path, 'field'], message);
  }

  /**
   * Normalizes values that are compared with the address of a contact, because stored addresses are normalized
   * (contract §3.1 Addresses).
   */
  #normalizeValue({ field, operator }: Filter, value: FilterValue): FilterValue {
    if (parseField(field, operator, this.#scope)?.kind !== 'email') return value;
    if (this.#scope !== 'audience' && hasExpression(value)) return value;
    const normalize = (item: Scalar) => (typeof item === 'string' ? (toSearchForms(item).at(-1) ?? item) : item);
    return Array.isArray(value) ? value.map(normalize) : normalize(value);
  }

  #reportError(input: unknown, path: Path, message: string): void {
    this.#report({ code: 'custom', message, input, path });
  }

  #reportTooFew(input: unknown, path: Path): void {
    this.#report({ code: 'too_small', origin: 'array', minimum: 1, inclusive: true, input, path });
  }

  #reportTooMany(input: unknown, path: Path): void {
    const message = `A condition holds at most ${MAX_FILTERS} filters.`;
    this.#report({ code: 'too_big', origin: 'array', maximum: MAX_FILTERS, inclusive: true, input, path, message });
  }
}

/** Removes spaces around the name of an event, because recorded events have trimmed names. */
function trimEventInField(field: string): string {
  const [, prefix, name] = /^((?:contact\.)?event\.)(.+)$/su.exec(field) ?? [];
  return prefix === undefined || name === undefined ? field : prefix + trimEventName(name);
}

function describeValueShapeError(issue: { input?: unknown }): string {
  return Array.isArray(issue.input)
    ? `A list of at most ${MAX_FILTERS} strings, numbers or booleans is expected.`
    : 'A string, a number, a boolean or a list of them is expected.';
}

function isRecord(input: unknown): input is Record<string, unknown> {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

function isEmptyArray(input: unknown): boolean {
  return Array.isArray(input) && input.length === 0;
}
