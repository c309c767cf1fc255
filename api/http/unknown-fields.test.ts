import { z } from '@hono/zod-openapi';
import { describe, expect, it } from 'vitest';
import { STEPS, type StepType } from '../../rules/executions/steps/registry.ts';
import { ConditionInput } from '../../rules/filters/filters.ts';
import { ApplyProject } from '../routes/as-code/input.ts';
import { BulkContacts } from '../routes/contact-jobs/input.ts';
import { CreateSegment } from '../routes/segments/input.ts';
import { CreateStep } from '../routes/workflow-steps/input.ts';
import { CreateWorkflow } from '../routes/workflows/input.ts';
import { collectFieldNames } from './unknown-fields.ts';

const unknownIn = (schema: z.ZodType, body: unknown) =>
  collectFieldNames(schema)
    .unknownIn(body)
    .map(({ path }) => path.join('.'));

const filter = { field: 'data.plan', operator: 'equals', value: 'pro', filed: 1 };
const full = { logic: 'AND', groups: [{ filters: [filter], conditions: { operator: 'OR', conditions: [filter] } }] };

describe('the unknown fields of a condition', () => {
  it.each([
    ['the full form', full, ['groups.0.filters.0.filed', 'groups.0.conditions.conditions.0.filed']],
    ['the simple form', { operator: 'AND', conditions: [filter], logic: 'OR' }, ['conditions.0.filed', 'logic']],
    ['a condition beside groups', { logic: 'AND', groups: [], conditions: [filter] }, ['conditions']],
    ['a group', { logic: 'AND', groups: [{ filters: [], filter: [] }] }, ['groups.0.filter']],
  ])('are found in %s', (_, condition, unknown) => {
    expect(unknownIn(ConditionInput, condition)).toEqual(unknown);
  });

  it('are not searched in a list that is sent in place of a condition', () => {
    expect(unknownIn(ConditionInput, [filter])).toEqual([]);
  });

  it.each([
    ['a segment', CreateSegment, { filters: full, condition: full }, ['filters', 'condition']],
    ['a bulk job', BulkContacts, { where: { condition: full } }, ['where.condition']],
    [
      'an apply',
      ApplyProject,
      { segments: [{ condition: full }], campaigns: [{ audienceFilter: full }] },
      ['segments.0.condition', 'campaigns.0.audienceFilter'],
    ],
  ])('are found in the body of %s', (_, schema, body, places) => {
    expect(unknownIn(schema, body)).toEqual(
      places.flatMap((at) => [`${at}.groups.0.filters.0.filed`, `${at}.groups.0.conditions.conditions.0.filed`]),
    );
  });

  it('are found in the exit events of a workflow', () => {
    const exitOn = [
      { eventName: 'e', filters: [filter], filter },
      { eventName: 'e', filters: filter },
    ];
    expect(unknownIn(CreateWorkflow, { exitOn })).toEqual([
      'exitOn.0.filters.0.filed',
      'exitOn.0.filter',
      'exitOn.1.filters.filed',
    ]);
  });

  it('are found only down to a maximum depth, fewer than 50 in a condition of a thousand levels', () => {
    let deep: unknown = {};
    for (let i = 0; i < 1_000; i += 1) deep = { logic: 'AND', groups: [{ conditions: deep, x: 1 }] };
    expect(unknownIn(ConditionInput, deep).length).toBeLessThan(50);
  });
});

describe('a field of a step’s config is unknown if the step’s type does not have it', () => {
  it.each<[StepType, object, string[]]>([
    [
      'SEND_EMAIL',
      { templateId: 'x', from: { email: 'a@b.c', nam: '' }, recipient: { type: 'CONTACT', custom: 1 } },
      ['from.nam', 'recipient.custom'],
    ],
    ['DELAY', { amount: 1, unit: 'days', until: undefined }, ['amount', 'unit']],
    ['DELAY', { amount: 1, unit: 'days', untill: '09:00' }, ['untill']],
    ['WAIT_FOR_EVENT', { eventName: 'e', filters: [filter] }, ['filters.0.filed']],
    ['WAIT_FOR_EVENT', { eventName: 'e', filters: [], timeuot: 1 }, ['timeuot']],
    ['CONDITION', full, ['groups.0.filters.0.filed', 'groups.0.conditions.conditions.0.filed']],
    ['CONDITION', filter, ['filed']],
    ['WEBHOOK', { url: 'x', headers: { 'X-A': '1' }, body: { any: { thing: 1 } }, methd: 'GET' }, ['methd']],
    ['UPDATE_CONTACT', { updates: { any: { thing: 1 } }, update: {} }, ['update']],
    ['EXIT', { reason: 'x', reson: 'x' }, ['reson']],
    ['SEND_SMS', { body: 'x', templateId: null, template: 'x' }, ['template']],
    ['SPLIT', { branches: [{ name: 'a', weight: 1, wieght: 2 }] }, ['branches.0.wieght']],
  ])('%s %j', (type, config, unknown) => {
    expect(unknownIn(STEPS[type].input, config)).toEqual(unknown);
    const inConfig = unknown.map((path) => `config.${path}`);
    expect(unknownIn(CreateStep, { type, config })).toEqual(inConfig);
    const steps = [{ slug: 's', type, config: type === 'SEND_EMAIL' ? { ...config, template: 'x' } : config }];
    expect(unknownIn(ApplyProject, { workflows: [{ steps }] })).toEqual(
      inConfig.map((path) => `workflows.0.steps.0.${path}`),
    );
  });

  it('no field of the config is unknown if the step’s type is unknown', () => {
    expect(unknownIn(CreateStep, { type: 'X', config: { a: 1 }, b: 1 })).toEqual(['b']);
  });
});

it('finds the unknown fields of settings in a file at any depth', () => {
  const settings = { colour: '#000000', doubleOptIn: { enabled: true, template: 'x', tmplate: 'y' } };
  expect(unknownIn(ApplyProject, { settings })).toEqual(['settings.colour', 'settings.doubleOptIn.tmplate']);
});

it('finds unknown fields inside the values of a record with arbitrary keys', () => {
  const schema = z.object({ columns: z.record(z.string(), z.union([z.null(), z.object({ field: z.string() })])) });
  expect(unknownIn(schema, { columns: { A: null, B: { field: 'x', tpye: 'y' } } })).toEqual(['columns.B.tpye']);
});

it('declares a free-form object, but not the fields inside the object', () => {
  const record = collectFieldNames(z.object({ filter: z.record(z.string(), z.unknown()), sentAt: z.string() }));
  expect([record.hasField(['filter']), record.hasField(['filter', 'x']), record.hasField(['sentAt'])]).toEqual([
    true,
    false,
    true,
  ]);
});
