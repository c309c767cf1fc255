import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StepConfig } from '../../../rules/executions/steps/definition.ts';
import { STEP_TYPES, STEPS, type StepType } from '../../../rules/executions/steps/registry.ts';
import { createStepsOfEachType } from '../../build/step-samples.ts';
import { buildWorkflow } from '../../build/workflows.ts';
import { buildProject, startTestApi, type TestApi } from '../../support/api.ts';
import { buildVerifiedDomain, createRecord } from '../../support/as-code.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const RUNS = 25;
const text = fc.constantFrom(
  'a',
  'Grüße',
  '{{firstName ?? "you"}}',
  'segment.x',
  '"quoted"',
  '😀',
  '  spaces  ',
  '<b>&amp;</b>',
);
const generateSlugs = (most: number) =>
  fc.uniqueArray(fc.constantFrom('a', 'b', 'news', 'x-2', 'welcome', 'u-1f600'), { maxLength: most });
const filter = fc.constantFrom<object>(
  { field: 'email', operator: 'contains', value: 'segment.a' },
  { field: 'data.plan', operator: 'in', value: ['pro', 'team'] },
  { field: 'event.purchase', operator: 'triggeredWithin', value: 30, unit: 'days' },
);

function generateTopic(slug: string) {
  return fc.record(
    {
      slug: fc.constant(slug),
      name: fc.constant(`About ${slug}`),
      description: fc.option(fc.constant('d')),
      defaultSubscribed: fc.boolean(),
    },
    { requiredKeys: ['slug', 'name'] },
  );
}

function generateTemplate(slug: string, topics: string[]) {
  return fc.record(
    {
      slug: fc.constant(slug),
      name: fc.constantFrom('Name', 'Grüße'),
      subject: text,
      body: text,
      type: fc.constant('MARKETING'),
      topic: fc.constantFrom(null, ...topics),
      description: fc.option(text),
      fromName: fc.option(fc.constantFrom('Ada', 'Grüße')),
      replyTo: fc.option(fc.constant('reply@example.com')),
    },
    { requiredKeys: ['slug', 'name', 'subject', 'body', 'type'] },
  );
}

/** Generates a segment, which may refer to the segments in `before`. */
function generateSegment(slug: string, before: string[], topics: string[]) {
  const membership = [
    ...before.map((name) => ({ field: `segment.${name}`, operator: 'memberOf' })),
    ...topics.map((name) => ({ field: `topic.${name}`, operator: 'equals', value: true })),
  ];
  const filters = fc.array(fc.oneof(filter, ...membership.map((one) => fc.constant<object>(one))), {
    minLength: 1,
    maxLength: 3,
  });
  const dynamic = fc.record({
    slug: fc.constant(slug),
    name: text.map((name) => name.trim()),
    condition: fc.oneof(
      fc.record({ operator: fc.constantFrom('AND', 'OR'), conditions: filters }),
      fc.record({ logic: fc.constantFrom('AND', 'OR'), groups: filters.map((all) => [{ filters: all }]) }),
    ),
    trackMembership: fc.boolean(),
  });
  const fixed = fc.record({
    slug: fc.constant(slug),
    name: text.map((name) => name.trim()),
    type: fc.constant('STATIC'),
  });
  return fc.oneof<fc.Arbitrary<object>[]>(dynamic, fixed);
}

function generateStep(slug: string, names: { templates: string[]; segments: string[] }) {
  const kinds: [type: string, config: fc.Arbitrary<object>][] = [
    ['DELAY', fc.record({ amount: fc.integer({ min: 1, max: 30 }), unit: fc.constantFrom('days', 'hours') })],
    [
      'WAIT_FOR_EVENT',
      fc.constant({ eventName: 'x', timeout: 60, filters: [{ field: 'segment.a', operator: 'exists' }] }),
    ],
    ['UPDATE_CONTACT', fc.record({ updates: fc.dictionary(fc.constantFrom('plan', 'template', 'field'), text) })],
    ['WEBHOOK', fc.constant({ url: 'https://hooks.example/{{id}}', body: { template: 'x', field: 'segment.a' } })],
    // A reason takes no variables: an expression in it is 422 (contract §7.6 Webhooks and expressions).
    ['EXIT', fc.record({ reason: text.filter((reason) => !reason.includes('{{')) })],
    ['SEND_EMAIL', fc.constant({})],
    ...names.templates.map((name): [string, fc.Arbitrary<object>] => ['SEND_EMAIL', fc.constant({ template: name })]),
    ...names.segments.map((name): [string, fc.Arbitrary<object>] => [
      'CONDITION',
      fc.constant({ field: `contact.segment.${name}`, operator: 'notMemberOf' }),
    ]),
  ];
  const position = fc.option(fc.record({ x: fc.integer({ max: 500 }), y: fc.integer() }));
  return fc.oneof(
    ...kinds.map(([type, config]) =>
      fc.record({
        slug: fc.constant(slug),
        type: fc.constant(type),
        name: fc.constantFrom('Step', '😀'),
        config,
        position,
      }),
    ),
  );
}

function generateWorkflow(slug: string, names: { templates: string[]; segments: string[] }) {
  return generateSlugs(5)
    .chain((stepSlugs) => fc.tuple(...stepSlugs.map((name) => generateStep(name, names))))
    .chain((steps) =>
      fc.record({
        slug: fc.constant(slug),
        name: fc.constantFrom('Flow', 'Strom'),
        description: fc.option(text),
        eventName: fc.option(fc.constant('signup')),
        triggerType: fc.constantFrom('EVENT', 'MANUAL'),
        allowReentry: fc.boolean(),
        entry: fc.constantFrom(null, ...steps.map((one) => one.slug)),
        steps: fc.constant(steps),
        transitions: fc.subarray(
          steps.flatMap((one) => {
            const to = steps.at(steps.indexOf(one) - 1)?.slug ?? one.slug;
            const branches = STEPS[one.type as StepType].branches(one.config as StepConfig);
            return branches.map((branch) => ({ from: one.slug, to, branch }));
          }),
        ),
      }),
    );
}

const window = { from: '08:00', to: '21:00', days: [1, 2], timezone: 'contact' };

/** Generates the variants of a campaign: an empty list, variants by weight, or variants with a test. */
function generateVariants() {
  const common = fc.record(
    { name: fc.constant(''), subject: text, body: text, preheader: text, weight: fc.integer({ min: 1, max: 9 }) },
    { requiredKeys: ['name'] },
  );
  const test = fc.record(
    {
      share: fc.constantFrom(0.02, 0.2, 1),
      metric: fc.constantFrom('opens', 'clicks'),
      waitMinutes: fc.integer({ min: 0, max: 9_000 }),
      minimum: fc.integer({ min: 0, max: 90 }),
    },
    { requiredKeys: ['share'] },
  );
  const several = fc
    .array(common, { minLength: 2, maxLength: 4 })
    .map((all) => all.map((one, n) => ({ ...one, name: `${'ABCD'[n]} 😀` })));
  return fc.oneof<fc.Arbitrary<object>[]>(
    fc.constantFrom({}, { variants: null, test: null }),
    fc.record({ variants: several, test: fc.option(test) }),
  );
}

function generateCampaign(slug: string, names: { segments: string[]; topics: string[] }) {
  const filters = fc.record({ operator: fc.constant('AND'), conditions: fc.array(filter, { minLength: 1 }) });
  const audience = fc.oneof<fc.Arbitrary<object>[]>(
    fc.constant({ audienceType: 'ALL' }),
    fc.record({ audienceType: fc.constant('FILTERED'), audienceFilter: filters }),
    ...names.segments.flatMap((name) => [
      fc.constant({ audienceType: 'SEGMENT', segment: name }),
      fc.constant({
        audienceType: 'FILTERED',
        audienceFilter: { operator: 'AND', conditions: [{ field: `segment.${name}`, operator: 'memberOf' }] },
      }),
    ]),
  );
  const common = fc.record(
    {
      slug: fc.constant(slug),
      name: fc.constantFrom('News', 'Grüße'),
      subject: text,
      body: text,
      from: fc.constant('hi@shop.example'),
      fromName: fc.option(fc.constant('Ada')),
      description: fc.option(text),
      preheader: fc.option(text),
      topic: fc.constantFrom(null, ...names.topics),
      sendAtLocal: fc.option(fc.constantFrom('2026-12-01T09:00', '2020-02-29T23:00')),
      latePolicy: fc.constantFrom('SEND', 'SKIP'),
      sendingWindow: fc.constantFrom<unknown>('project', null, window),
    },
    { requiredKeys: ['slug', 'name', 'subject', 'body', 'from'] },
  );
  return fc.tuple(common, audience, generateVariants()).map((parts) => Object.assign({}, ...parts) as { slug: string });
}

const project = fc
  .record({
    topics: generateSlugs(3),
    templates: generateSlugs(4),
    segments: generateSlugs(4),
    workflows: generateSlugs(3),
    campaigns: generateSlugs(3),
  })
  .chain((names) =>
    fc.record({
      topics: fc.tuple(...names.topics.map(generateTopic)),
      templates: fc.tuple(...names.templates.map((slug) => generateTemplate(slug, names.topics))),
      segments: fc.tuple(
        ...names.segments.map((slug, i) => generateSegment(slug, names.segments.slice(0, i), names.topics)),
      ),
      workflows: fc.tuple(...names.workflows.map((slug) => generateWorkflow(slug, names))),
      campaigns: fc.tuple(...names.campaigns.map((slug) => generateCampaign(slug, names))),
    }),
  );

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-/;

const exportProject = async (key: string) => (await api.call('GET', '/project/export', { key })).body;

async function apply(key: string, body: object) {
  const response = await api.call('POST', '/project/apply', { body, key });
  expect(response.status, JSON.stringify(response.body)).toBe(200);
  return response.body;
}

it('a step of each type is the same after export and apply to another project, and refers to nothing in the first project', async () => {
  for (const { id } of [api.one, api.two]) await buildVerifiedDomain(api.db, id, 'shop.example');
  const email = { name: 'Mail', subject: 'Hello', body: '<p>Hello</p>', type: 'MARKETING', from: 'hi@shop.example' };
  const { id: templateId } = await createRecord(api, '/templates', email);
  const { id: segmentId } = await createRecord(api, '/segments', { name: 'Members', type: 'STATIC' });
  const named = { templateId, segmentId, url: 'https://hooks.example/each', seconds: 60 };
  await buildWorkflow(api, { steps: createStepsOfEachType(named) });
  const here = await exportProject(api.one.secretKey);
  expect(here.workflows[0].steps).toHaveLength(STEP_TYPES.length);
  expect(JSON.stringify(here)).not.toMatch(ID);
  expect(await apply(api.two.secretKey, here)).toMatchObject({ updated: [] });
  expect(await exportProject(api.two.secretKey)).toEqual(here);
});

it('any export is the same after it is applied to another project, in any order; a second apply changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(project, fc.boolean(), async (document, backwards) => {
      const [here, there] = [await buildProject(api.db, 'here'), await buildProject(api.db, 'there')];
      for (const { id } of [here, there]) await buildVerifiedDomain(api.db, id, 'shop.example');
      await apply(here.secretKey, document);
      const first = await exportProject(here.secretKey);
      expect(JSON.stringify(first)).not.toMatch(ID);
      expect(first.workflows).toHaveLength(document.workflows.length);
      expect(first.campaigns).toHaveLength(document.campaigns.length);
      expect(await apply(here.secretKey, first)).toMatchObject({ created: [], updated: [], findings: [] });

      const reverseIfBackwards = <T>(list: T[]) => (backwards ? list.toReversed() : list);
      const moved = {
        ...first,
        segments: reverseIfBackwards(first.segments),
        templates: reverseIfBackwards(first.templates),
      };
      expect(await apply(there.secretKey, { ...moved, dryRun: true })).toMatchObject({ updated: [] });
      await apply(there.secretKey, moved);
      expect(await exportProject(there.secretKey)).toEqual(first);
      expect(await apply(there.secretKey, moved)).toMatchObject({ created: [], updated: [], findings: [] });
    }),
    { numRuns: RUNS },
  );
});
