/** Random contacts, histories and conditions for the property test of the filter compiler. */
import fc from 'fast-check';
import type { FilterWorld } from '../../rules/filters/evaluate.ts';
import {
  EMAIL_ACTIVITIES,
  HISTORY_OPERATORS,
  listOperators,
  type Operator,
  UNITS,
  VALUE_OPERATORS,
} from '../../rules/filters/fields.ts';
import type { Condition, Filter } from '../../rules/filters/filters.ts';

export const NOW = new Date('2026-11-21T12:00:00.000Z');
/** Time zones for dates without an offset: whole hours, half hours, and a daylight saving change of half an hour. */
export const zoneArbitrary = fc.constantFrom('UTC', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kolkata');
export const STATIC_SEGMENT = '019a0000-0000-7000-8000-000000000001';
export const DYNAMIC_SEGMENT = '019a0000-0000-7000-8000-000000000002';
export const OUTER_SEGMENT = '019a0000-0000-7000-8000-000000000003';
/** Topics with their defaults. */
export const TOPICS = [
  { id: '019a0000-0000-7000-8000-000000000011', joined: true },
  { id: '019a0000-0000-7000-8000-000000000012', joined: false },
] as const;
const UNKNOWN_TOPIC = '019a0000-0000-7000-8000-000000000019';
export const UNKNOWN_SEGMENT = '019a0000-0000-7000-8000-000000000009';

const EVENT_NAMES = ['signup', 'purchase', 'email.open'];

// There are few values, so equal values occur often. Some values break a cast, a LIKE or a collation.
const text = fc.constantFrom(
  ...[
    'pro',
    'Pro',
    'PRO',
    'free',
    '',
    'abc',
    '100%',
    'a_b',
    '\\',
    "it's",
    'İstanbul',
    'istanbul',
    'ΣΑΣ',
    'σασ',
    'ß',
    'Z',
    'z',
  ],
  ...['😀', '\uff61', '5', 'true', 'null', 'prefix pro', '[1]', '{}', '1e5', 'NaN', 'say "pro"', 'a\tb'],
);
const date = fc.constantFrom(
  ...[
    '2026-11-01',
    '2026-11-01T00:00:00Z',
    '2026-11-01T02:00:00+02:00',
    '2026-11-01 00:00',
    '2026-02-30',
    '2026-13-01',
  ],
  ...[
    '2026-11-21T11:59:59.999Z',
    '2026-11-21T12:00:00.000500Z',
    '2026-11-21T12:00:00.001-0000',
    '2026-11-20T10:00:00.123456',
    '2026-11-21T13:00',
    '2026-11-21 13:00:30',
    '2026-10-25T02:30',
    '2026-10-25T00:30:00Z',
    '2026-03-29T02:30',
    '2026-04-05T01:45',
    '2026-10-04T02:10',
  ],
  ...[
    '2027-01-01',
    '0000-01-01',
    '2026-11-21T24:00:00Z',
    '2026-11-21T11:30:00+14:30',
    'today',
    'infinity',
    '2026-11-21T12',
    'now',
  ],
);
const EDGE_NUMBERS = [0.1 + 0.2, 0.3, -0, 5e-324, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER];
const number = fc.constantFrom(0, 1, 5, 5.5, -3, 1e21, 1e-7, 0.1, 42, ...EDGE_NUMBERS);
const scalar = fc.oneof(text, date, number, fc.boolean());
const stored = fc.oneof(
  { weight: 4, arbitrary: scalar },
  fc.constant(null),
  fc.array(fc.oneof(scalar, fc.constant(null), fc.constant({ b: 1 }), fc.constant([5])), { maxLength: 3 }),
  fc.record({ b: scalar, 'c.d': scalar, c: fc.record({ d: scalar }) }, { requiredKeys: [] }),
);
const data = fc.dictionary(fc.constantFrom('plan', 'age', 'tags', 'obj', 'when', 'obj.b'), stored, { maxKeys: 5 });
const instant = fc.constantFrom(0, 1, 30_000, 60_000, 59 * 60_000, 3_600_000, 86_400_000, 172_800_000, 86_400_000 * 20);
const past = instant.map((ms) => new Date(NOW.getTime() - ms));

export const contactArbitrary: fc.Arbitrary<Pick<FilterWorld, 'contact' | 'events' | 'emails'>> = fc.record({
  contact: fc.record({
    email: fc.constantFrom('ann@example.com', 'bob@example.org', 'pro@test.io', "o'neil_100%@x.co"),
    subscribed: fc.boolean(),
    createdAt: past,
    updatedAt: past,
    data,
  }),
  events: fc.array(fc.record({ name: fc.constantFrom(...EVENT_NAMES), createdAt: past }), { maxLength: 3 }),
  emails: fc.array(
    fc.record(Object.fromEntries(EMAIL_ACTIVITIES.map((activity) => [activity, fc.option(past)])), {
      requiredKeys: [],
    }),
    { maxLength: 2 },
  ),
});

const span = { value: fc.constantFrom(1, 2, 30, 0.5), unit: fc.constantFrom(...UNITS) };
const dataField = fc.constantFrom(
  ...[
    'data.plan',
    'data.age',
    'data.tags',
    'data.when',
    'data.obj',
    'data.obj.b',
    'data.obj.c.d',
    'data.tags.0',
    'data.tags.-1',
  ],
  ...['contact.data.plan', 'data.missing', 'data.obj.c'],
);
const payloadField = fc.constantFrom('event.plan', 'event.obj.b', 'context.plan', 'context.age');
const ORDER = ['greaterThan', 'lessThan', 'greaterThanOrEqual', 'lessThanOrEqual'] as const;

function generateValueFilter(
  field: fc.Arbitrary<string>,
  values: fc.Arbitrary<string | number | boolean>,
  operators: readonly Operator[],
): fc.Arbitrary<Filter> {
  const notBoolean = values.filter((value) => typeof value !== 'boolean');
  const words = values.filter((value) => typeof value === 'string' && value !== '');
  return fc.constantFrom(...operators).chain((operator): fc.Arbitrary<Filter> => {
    const fixed = { field, operator: fc.constant(operator) };
    if (operator === 'exists' || operator === 'notExists') return fc.record(fixed);
    if (operator === 'within' || operator === 'withinNext' || operator === 'olderThan')
      return fc.record({ ...fixed, ...span });
    if (operator === 'in' || operator === 'notIn') {
      return fc.record({ ...fixed, value: fc.array(values, { minLength: 1, maxLength: 4 }) });
    }
    if (operator === 'startsWith' || operator === 'endsWith') return fc.record({ ...fixed, value: words });
    if (operator === 'contains' || operator === 'notContains') {
      return fc.record({ ...fixed, value: values.filter((value) => value !== '') });
    }
    return fc.record({ ...fixed, value: (ORDER as readonly string[]).includes(operator) ? notBoolean : values });
  });
}

const historyFilter: fc.Arbitrary<Filter> = fc
  .constantFrom(
    ...EVENT_NAMES.map((name) => `event.${name}`),
    ...EMAIL_ACTIVITIES.map((activity) => `email.${activity}`),
  )
  .chain((field) =>
    fc.constantFrom(...HISTORY_OPERATORS).chain((operator): fc.Arbitrary<Filter> => {
      const fixed = { field: fc.constant(field), operator: fc.constant(operator) };
      return operator === 'triggered' || operator === 'notTriggered'
        ? fc.record(fixed)
        : fc.record({ ...fixed, ...span });
    }),
  );

const segmentFilter: fc.Arbitrary<Filter> = fc.record({
  field: fc
    .constantFrom(STATIC_SEGMENT, DYNAMIC_SEGMENT, OUTER_SEGMENT, UNKNOWN_SEGMENT)
    .map((segmentId) => `segment.${segmentId}`),
  operator: fc.constantFrom('memberOf', 'notMemberOf'),
});

/** An address with capital letters, as a person may type it. */
const TYPED_ADDRESS = 'ANN@Example.com';
const emailText = fc.constantFrom(
  'ann@example.com',
  TYPED_ADDRESS,
  'pro',
  '@example',
  '.co',
  "o'neil_",
  '100%',
  '2026-11-01',
);
/** Returns a condition as JSON, with addresses in the form that conditions are stored in. */
export function toStoredCondition(condition: Condition): unknown {
  return JSON.parse(JSON.stringify(condition), (_, value: unknown) =>
    value === TYPED_ADDRESS ? TYPED_ADDRESS.toLowerCase() : value,
  );
}

const emailFilter = generateValueFilter(fc.constantFrom('email', 'contact.email'), emailText, listOperators('email'));
const subscribedFilter = generateValueFilter(fc.constant('subscribed'), fc.boolean(), listOperators('subscribed'));
const topicField = fc.constantFrom(...TOPICS.map(({ id }) => id), UNKNOWN_TOPIC).map((id) => `topic.${id}`);
const topicFilter = generateValueFilter(topicField, fc.boolean(), listOperators('topic'));
const ownDate = fc.oneof(
  past.map((at) => at.toISOString()),
  fc.constantFrom('2026-11-21', '2026-11-21T13:00:00+01:00'),
);
const instantFilter = generateValueFilter(
  fc.constantFrom('createdAt', 'updatedAt'),
  ownDate,
  listOperators('createdAt'),
);

export const filterArbitrary: fc.Arbitrary<Filter> = fc.oneof(
  { weight: 6, arbitrary: generateValueFilter(dataField, scalar, VALUE_OPERATORS) },
  { weight: 2, arbitrary: historyFilter },
  segmentFilter,
  emailFilter,
  subscribedFilter,
  topicFilter,
  instantFilter,
);

export const stepFilterArbitrary: fc.Arbitrary<Filter> = fc.oneof(
  filterArbitrary,
  generateValueFilter(payloadField, scalar, VALUE_OPERATORS),
);

/** Generates conditions with up to three levels, whose filters come from `filter`. */
export function generateConditions(filter: fc.Arbitrary<Filter>): fc.Arbitrary<Condition> {
  return generateNestedConditions(filter, 3);
}

function generateNestedConditions(filter: fc.Arbitrary<Filter>, levels: number): fc.Arbitrary<Condition> {
  const filters = fc.array(filter, { minLength: 1, maxLength: 2 });
  const plain = fc.record({ filters });
  const group =
    levels > 1
      ? fc.oneof(plain, fc.record({ filters, conditions: generateNestedConditions(filter, levels - 1) }))
      : plain;
  return fc.record({
    logic: fc.constantFrom('AND', 'OR'),
    groups: fc.array(group, { minLength: 1, maxLength: levels }),
  });
}

export const payloadArbitrary = fc.record({ event: data, context: data });
