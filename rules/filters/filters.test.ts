import { describe, expect, it } from 'vitest';
import { evaluateValueFilter } from './evaluate.ts';
import {
  ConditionInput,
  MAX_CONDITION_DEPTH,
  MAX_FILTERS,
  parseCondition,
  StepConditionInput,
  WaitFiltersInput,
} from './filters.ts';
import { collectReferences, hasReference } from './references.ts';

const SEGMENT = '019a0000-0000-7000-8000-000000000001';
const PRO = { field: 'data.plan', operator: 'equals', value: 'pro' };
const OLD = { field: 'data.age', operator: 'greaterThan', value: 18 };

function listErrors(input: unknown, schema = ConditionInput): [string, string][] {
  const result = schema.safeParse(input);
  return result.success ? [] : result.error.issues.map((issue) => [issue.path.join('.'), issue.code]);
}

function createNestedCondition(levels: number): unknown {
  const group = levels > 1 ? { filters: [PRO], conditions: createNestedCondition(levels - 1) } : { filters: [PRO] };
  return { logic: 'AND', groups: [group] };
}

describe('a condition', () => {
  it('in the simple form is converted to the full one: one group for AND, one group per filter for OR', () => {
    expect(ConditionInput.parse({ operator: 'AND', conditions: [PRO, OLD] })).toEqual({
      logic: 'AND',
      groups: [{ filters: [PRO, OLD] }],
    });
    expect(ConditionInput.parse({ operator: 'OR', conditions: [PRO, OLD] })).toEqual({
      logic: 'OR',
      groups: [{ filters: [PRO] }, { filters: [OLD] }],
    });
  });

  it('in the full form is kept, without unknown fields', () => {
    const condition = {
      logic: 'OR',
      groups: [{ filters: [{ ...PRO, unit: null, id: 7 }], conditions: createNestedCondition(2) }],
    };
    expect(ConditionInput.parse(condition)).toEqual({
      logic: 'OR',
      groups: [{ filters: [PRO], conditions: createNestedCondition(2) }],
    });
  });

  it('may have a group that contains only a nested condition', () => {
    const condition = { logic: 'AND', groups: [{ filters: [], conditions: createNestedCondition(1) }] };
    expect(ConditionInput.parse(condition)).toEqual(condition);
  });

  it(`is refused if conditions are nested more than ${MAX_CONDITION_DEPTH} deep, however deep the input is`, () => {
    expect(listErrors(createNestedCondition(MAX_CONDITION_DEPTH))).toEqual([]);
    expect(listErrors(createNestedCondition(5000))).toEqual([
      [`${'groups.0.conditions.'.repeat(10)}`.slice(0, -1), 'custom'],
    ]);
  });

  it(`has at most ${MAX_FILTERS} filters, over all its groups`, () => {
    const createGroups = (n: number) => ({
      logic: 'AND',
      groups: Array.from({ length: n }, () => ({ filters: [PRO, OLD] })),
    });
    expect(listErrors(createGroups(250))).toEqual([]);
    expect(listErrors(createGroups(251))).toEqual([['groups.250.filters', 'too_big']]);
    expect(listErrors({ operator: 'AND', conditions: Array(501).fill(PRO) })).toEqual([['conditions', 'too_big']]);
  });

  it.each([
    ['nothing', undefined, '', 'invalid_type'],
    ['a text', 'all', '', 'invalid_type'],
    ['no logic', { groups: [{ filters: [PRO] }] }, 'logic', 'invalid_value'],
    ['an unknown logic', { logic: 'XOR', groups: [{ filters: [PRO] }] }, 'logic', 'invalid_value'],
    ['no groups', { logic: 'AND' }, 'groups', 'invalid_type'],
    ['empty groups, which would be everybody', { logic: 'AND', groups: [] }, 'groups', 'too_small'],
    ['an empty group', { logic: 'AND', groups: [{ filters: [] }] }, 'groups.0.filters', 'too_small'],
    ['an empty simple form', { operator: 'AND', conditions: [] }, 'conditions', 'too_small'],
    ['a filter that is a number', { operator: 'AND', conditions: [7] }, 'conditions.0', 'invalid_type'],
    [
      'an unknown operator',
      { operator: 'AND', conditions: [{ ...PRO, operator: 'is' }] },
      'conditions.0.operator',
      'invalid_value',
    ],
  ])('with %s is refused, with the path of the error', (_, input, field, code) => {
    expect(listErrors(input)).toEqual([[field, code]]);
  });

  it('reports all errors at once, each at its own path', () => {
    const group = {
      filters: [
        { ...PRO, field: 'plan' },
        { ...OLD, value: true },
      ],
    };
    expect(listErrors({ logic: 'AND', groups: [group] })).toEqual([
      ['groups.0.filters.0.field', 'custom'],
      ['groups.0.filters.1.value', 'custom'],
    ]);
  });
});

describe('a filter', () => {
  it.each([
    [{ field: 'data.cart', operator: 'equals', value: '{{event.cartId}}' }, 'value'],
    [{ field: 'data.plan', operator: 'in', value: ['pro', 'a {{ context.plan | upcase }}'] }, 'value'],
    [{ field: 'email', operator: 'equals', value: '{{email}}@example.com' }, 'value'],
    [{ field: 'data.plan', operator: 'contains', value: '{% if a %}b{% endif %}' }, 'value'],
    [{ field: 'data.{{event.key}}', operator: 'exists' }, 'field'],
    [{ field: 'event.{{event.name}}', operator: 'triggered' }, 'field'],
  ])('in an audience may not have an expression, because no execution provides values: %j', (filter, key) => {
    const condition = { operator: 'AND', conditions: [filter] };
    expect(listErrors(condition)).toEqual([[`conditions.0.${key}`, 'custom']]);
    expect(parseCondition(condition).groups).toHaveLength(1);
  });

  it('has the name of its event without surrounding spaces, because events are recorded without them', () => {
    const createTriggerCondition = (field: string) => ({
      operator: 'AND',
      conditions: [{ field, operator: 'triggered' }],
    });
    expect(ConditionInput.parse(createTriggerCondition('event. order paid ')).groups[0]?.filters[0]?.field).toBe(
      'event.order paid',
    );
    expect(listErrors(createTriggerCondition('event. email.opened'))).toEqual([['conditions.0.field', 'custom']]);
  });

  it('in an audience may search for braces, and the field of a filter in a step may not have an expression', () => {
    const braces = { field: 'data.name', operator: 'contains', value: '{{' };
    expect(listErrors({ operator: 'AND', conditions: [braces, { ...braces, value: '{a}' }] })).toEqual([]);
    const wrong = { field: 'event.{{event.key}}', operator: 'exists' };
    expect(listErrors(wrong, StepConditionInput)).toEqual([['field', 'custom']]);
    expect(listErrors(wrong, WaitFiltersInput)).toEqual([['field', 'custom']]);
  });

  it.each([
    [{ field: 'plan', operator: 'equals', value: 'pro' }, 'field'],
    [{ field: 'data.', operator: 'exists' }, 'field'],
    [{ field: 'data.a..b', operator: 'exists' }, 'field'],
    [{ field: 'data.a\0', operator: 'exists' }, 'field'],
    [{ field: 'context.plan', operator: 'exists' }, 'field'],
    [{ field: 'email.read', operator: 'triggered' }, 'field'],
    [{ field: 'segment.vip', operator: 'memberOf' }, 'field'],
    [{ field: 'data.plan', operator: 'triggered' }, 'operator'],
    [{ field: 'event.signup', operator: 'equals', value: 1 }, 'operator'],
    [{ field: 'email.opened', operator: 'exists' }, 'operator'],
    [{ field: 'createdAt', operator: 'withinNext', value: 1, unit: 'days' }, 'operator'],
    [{ field: 'email', operator: 'withinNext', value: 1, unit: 'days' }, 'operator'],
    [{ field: 'data.at', operator: 'withinNext', value: 1 }, 'unit'],
    [{ field: 'email', operator: 'within', value: 1, unit: 'days' }, 'operator'],
    [{ field: 'email', operator: 'memberOf' }, 'operator'],
    [{ field: `segment.${SEGMENT}`, operator: 'equals', value: true }, 'operator'],
    [{ field: 'subscribed', operator: 'contains', value: 'x' }, 'operator'],
    [{ field: 'createdAt', operator: 'startsWith', value: '2026' }, 'operator'],
    [{ field: 'data.plan', operator: 'equals' }, 'value'],
    [{ field: 'data.plan', operator: 'equals', value: ['pro'] }, 'value'],
    [{ field: 'data.plan', operator: 'equals', value: { a: 1 } }, 'value'],
    [{ field: 'data.plan', operator: 'equals', value: 'a\0' }, 'value'],
    [{ field: 'data.plan', operator: 'equals', value: '\ud800' }, 'value'],
    [{ field: 'data.plan', operator: 'in', value: 'pro' }, 'value'],
    [{ field: 'data.plan', operator: 'in', value: [] }, 'value'],
    [{ field: 'data.plan', operator: 'startsWith', value: 5 }, 'value'],
    [{ field: 'data.plan', operator: 'contains', value: '' }, 'value'],
    [{ field: 'data.plan', operator: 'greaterThan', value: true }, 'value'],
    [{ field: 'data.plan', operator: 'exists', value: false }, 'value'],
    [{ field: 'data.plan', operator: 'exists', value: 'pro' }, 'value'],
    [{ field: 'data.plan', operator: 'notExists', value: true }, 'value'],
    [{ field: 'data.plan', operator: 'equals', value: 3, unit: 'days' }, 'unit'],
    [{ field: 'event.signup', operator: 'triggered', value: 3 }, 'value'],
    [{ field: 'email.opened', operator: 'notTriggered', unit: 'days' }, 'unit'],
    [{ field: `segment.${SEGMENT}`, operator: 'memberOf', value: false }, 'value'],
    [{ field: 'subscribed', operator: 'equals', value: 'true' }, 'value'],
    [{ field: 'email', operator: 'equals', value: 5 }, 'value'],
    [{ field: 'createdAt', operator: 'lessThan', value: 'yesterday' }, 'value'],
    [{ field: 'createdAt', operator: 'within', value: 0, unit: 'days' }, 'value'],
    [{ field: 'createdAt', operator: 'within', value: '7', unit: 'days' }, 'value'],
    [{ field: 'createdAt', operator: 'within', value: 7 }, 'unit'],
    [{ field: 'createdAt', operator: 'within', value: 7, unit: 'years' }, 'unit'],
    [{ field: 'createdAt', operator: 'within', value: 1e9, unit: 'weeks' }, 'value'],
    [{ field: 'event.signup', operator: 'triggeredWithin', value: 7 }, 'unit'],
  ])('the filter %j is refused, with an error for its %s', (filter, key) => {
    expect(listErrors({ operator: 'AND', conditions: [filter] }).map(([field]) => field)).toEqual([
      `conditions.0.${key}`,
    ]);
  });

  it.each([
    { field: 'data.address.city', operator: 'contains', value: 'er' },
    { field: 'data.tags', operator: 'contains', value: 5 },
    { field: 'data.plan', operator: 'notIn', value: ['pro', 1, true] },
    { field: 'event.email.open', operator: 'triggered' },
    { field: 'email.opened', operator: 'notTriggeredWithin', value: 2, unit: 'weeks' },
    { field: `segment.${SEGMENT}`, operator: 'notMemberOf' },
    { field: 'createdAt', operator: 'greaterThanOrEqual', value: '2026-11-21T10:00:00+01:00' },
    { field: 'subscribed', operator: 'equals', value: true },
    { field: 'contact.email', operator: 'endsWith', value: '@example.com' },
  ])('the filter %j is accepted', (filter) => {
    expect(listErrors({ operator: 'AND', conditions: [filter] })).toEqual([]);
  });

  it.each([
    ['equals', ' Ada@Example.com\n', 'ada@example.com'],
    ['notEquals', '"ada"@bücher.example', 'ada@xn--bcher-kva.example'],
    ['in', ['Ada <ADA@example.com>', 'bob@example.com '], ['ada@example.com', 'bob@example.com']],
    ['endsWith', ' @Example.COM ', '@example.com'],
  ])('the operator %s compares addresses in the form that is stored', (operator, value, stored) => {
    const parseFilters = (field: string) =>
      ConditionInput.parse({ operator: 'AND', conditions: [{ field, operator, value }] }).groups[0]?.filters;
    for (const field of ['email', 'contact.email'])
      expect(parseFilters(field)).toEqual([{ field, operator, value: stored }]);
    expect(parseFilters('data.email')).toEqual([{ field: 'data.email', operator, value }]);
    expect(
      listErrors({ operator: 'AND', conditions: [{ field: 'email', operator: 'contains', value: '  ' }] }),
    ).toEqual([['conditions.0.value', 'custom']]);
  });
});

describe('a CONDITION step', () => {
  it('takes a single filter, and the trigger payload and the context as fields', () => {
    const filter = { field: 'event.amount', operator: 'greaterThan', value: 100 };
    expect(StepConditionInput.parse(filter)).toEqual({ logic: 'AND', groups: [{ filters: [filter] }] });
    expect(listErrors({ field: 'context.source', operator: 'exists' }, StepConditionInput)).toEqual([]);
    expect(listErrors({ field: 'event.signup', operator: 'triggered' }, StepConditionInput)).toEqual([]);
  });

  it('refuses an expression for a value that the operator does not use', () => {
    const filter = { field: 'data.plan', operator: 'exists', value: '{{event.plan}}' };
    expect(listErrors(filter, StepConditionInput)).toEqual([['value', 'custom']]);
  });

  it('reports the error of a single filter by its own key', () => {
    expect(listErrors({ field: 'plan', operator: 'exists' }, StepConditionInput)).toEqual([['field', 'custom']]);
  });
});

describe('the filters of a wait', () => {
  it('are one filter, a list of filters or a condition, on keys of the event with or without `event.`', () => {
    const filter = { field: 'amount', operator: 'greaterThan', value: 100 };
    const condition = { logic: 'AND', groups: [{ filters: [filter] }] };
    for (const input of [filter, [filter], condition, { operator: 'AND', conditions: [filter] }]) {
      expect(WaitFiltersInput.parse(input)).toEqual(condition);
    }
    expect(listErrors([{ field: 'event.amount', operator: 'exists' }], WaitFiltersInput)).toEqual([]);
    expect(listErrors([{ field: 'event.amount', operator: 'triggered' }], WaitFiltersInput)).toEqual([
      ['0.operator', 'custom'],
    ]);
    expect(listErrors([], WaitFiltersInput)).toEqual([['', 'too_small']]);
  });
});

describe('the references of a condition', () => {
  const condition = StepConditionInput.parse({
    logic: 'OR',
    groups: [
      {
        filters: [
          PRO,
          { field: 'data.address.city', operator: 'exists' },
          { field: 'event.signup', operator: 'triggered' },
        ],
      },
      {
        filters: [{ field: 'event.amount', operator: 'exists' }],
        conditions: {
          operator: 'AND',
          conditions: [
            { field: `segment.${SEGMENT.toUpperCase()}`, operator: 'memberOf' },
            { field: 'email.clicked', operator: 'triggered' },
            PRO,
          ],
        },
      },
    ],
  });

  it('are found at every depth, each once, without the trigger payload', () => {
    expect(collectReferences(condition, 'step')).toEqual({
      dataFields: ['plan', 'address.city'],
      eventNames: ['signup'],
      segmentIds: [SEGMENT],
      emailActivities: ['clicked'],
    });
  });

  it('include a field that the condition uses, and a path below the field', () => {
    expect(hasReference(condition, { dataField: 'address' }, 'step')).toBe(true);
    expect(hasReference(condition, { dataField: 'data.plan' }, 'step')).toBe(true);
    expect(hasReference(condition, { dataField: 'pla' }, 'step')).toBe(false);
    expect(hasReference(condition, { eventName: 'signup' }, 'step')).toBe(true);
    expect(hasReference(condition, { segmentId: SEGMENT }, 'step')).toBe(true);
  });
});

it('reads a stored condition with a part that its operator does not use', () => {
  const filter = { field: 'data.plan', operator: 'exists', value: 'pro', unit: 'days' };
  const stored = { logic: 'AND', groups: [{ filters: [filter] }] };
  expect(parseCondition(stored)).toEqual(stored);
});

it('reads a stored condition with longer strings than are allowed now', () => {
  const stored = { logic: 'AND', groups: [{ filters: [{ ...PRO, value: 'x'.repeat(2_000) }] }] };
  expect(parseCondition(stored)).toEqual(stored);
  expect(listErrors(stored)).toEqual([['groups.0.filters.0.value', 'custom']]);
});

describe('withinNext', () => {
  const now = new Date('2026-11-27T12:00:00Z');
  const isWithinThreeDays = (stored: unknown) =>
    evaluateValueFilter({ field: 'data.at', operator: 'withinNext', value: 3, unit: 'days' }, stored, { now });

  it.each([
    ['2026-11-27T12:00:00Z', true],
    ['2026-11-30T12:00:00Z', true],
    ['2026-11-29', true],
    ['2026-11-30T12:00:00.001Z', false],
    ['2026-11-27T11:59:59Z', false],
    ['2026-11-27', false],
    ['soon', false],
    [20261128, false],
    [undefined, false],
  ])('%j is within the next three days: %s', (stored, expected) => expect(isWithinThreeDays(stored)).toBe(expected));
});
