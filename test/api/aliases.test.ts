import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOpenApiDocument } from '../../api/openapi/document.ts';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  await buildDomain(api.db, { projectId: api.one.id, domain: 'sender.test' });
  await buildContacts(api.db, { projectId: api.one.id, count: 2 });
});
afterAll(() => api?.close());

const createPlanFilter = (value: string) => ({
  logic: 'AND',
  groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value }] }],
});
/** Returns the same condition with its keys in another order. */
const reorderKeys = ({ logic, groups }: ReturnType<typeof createPlanFilter>) => ({ groups, logic });

interface Alias {
  /** The schema of the request in the OpenAPI document. */
  schema: string;
  field: string;
  alias: string;
  /** Two different values for the field. */
  values: [unknown, unknown];
  path: () => Promise<string> | string;
  method?: string;
  rest: object;
}

let count = 0;
const create = async (path: string, body: object) => {
  const { body: response } = await api.call('POST', path, { body });
  const record = response.data ?? response;
  expect(record.id, JSON.stringify(response)).toBeDefined();
  return record;
};
const createCampaign = () => create('/campaigns', createCampaignBody());
const createScheduledCampaign = async () =>
  create(`/campaigns/${(await createCampaign()).id}/send`, { scheduledFor: '2033-01-01T09:00:00Z' });
const createSegment = () => create('/segments', { name: `Segment ${++count}`, filters: createPlanFilter('old') });
const createSegmentCampaign = async () =>
  create('/campaigns', { ...audience, audienceType: 'SEGMENT', segmentId: (await createSegment()).id });
const audience = { name: 'News', subject: 'News', body: '<p>News</p>', from: 'news@sender.test' };
const someone = '018f3c66-0000-7000-8000-000000000001';
const other = '018f3c66-0000-7000-8000-000000000002';
const bulk = ['bulk-subscribe', 'bulk-unsubscribe', 'bulk-delete'].map(
  (job): Alias => ({
    schema: 'BulkContacts',
    field: 'contactIds',
    alias: 'ids',
    values: [[someone], [other]],
    path: () => `/contacts/${job}`,
    rest: {},
  }),
);
const campaignFilters = ['audienceCondition', 'filters'].flatMap((alias): Alias[] =>
  (['POST', 'PUT'] as const).map((method) => ({
    schema: method === 'POST' ? 'CreateCampaign' : 'PutCampaign',
    field: 'audienceFilter',
    alias,
    values: [createPlanFilter('pro'), createPlanFilter('free')],
    method,
    path: async () => (method === 'POST' ? '/campaigns' : `/campaigns/${(await createCampaign()).id}`),
    rest: { ...audience, audienceType: 'FILTERED' },
  })),
);
const ALIASES: Alias[] = [
  ...bulk,
  ...campaignFilters,
  ...(['POST', 'PUT'] as const).map(
    (method): Alias => ({
      schema: method === 'POST' ? 'CreateCampaign' : 'PutCampaign',
      field: 'audienceType',
      alias: 'type',
      values: ['FILTERED', 'ALL'],
      method,
      path: async () => (method === 'POST' ? '/campaigns' : `/campaigns/${(await createSegmentCampaign()).id}`),
      rest: { ...audience, audienceFilter: createPlanFilter('pro') },
    }),
  ),
  {
    schema: 'SendCampaign',
    field: 'scheduledFor',
    alias: 'scheduledAt',
    values: ['2031-01-01T09:00:00Z', '2032-01-01T09:00:00Z'],
    path: async () => `/campaigns/${(await createCampaign()).id}/send`,
    rest: {},
  },
  {
    schema: 'PutCampaign',
    field: 'scheduledFor',
    alias: 'scheduledAt',
    values: ['2031-01-01T09:00:00Z', '2032-01-01T09:00:00Z'],
    method: 'PUT',
    path: async () => `/campaigns/${(await createScheduledCampaign()).id}`,
    rest: {},
  },
  {
    schema: 'CreateSegment',
    field: 'filters',
    alias: 'condition',
    values: [createPlanFilter('pro'), createPlanFilter('free')],
    path: () => '/segments',
    get rest() {
      return { name: `Segment ${++count}` };
    },
  },
  {
    schema: 'PatchSegment',
    field: 'filters',
    alias: 'condition',
    values: [createPlanFilter('pro'), createPlanFilter('free')],
    method: 'PATCH',
    path: async () => `/segments/${(await createSegment()).id}`,
    rest: {},
  },
  {
    schema: 'PreviewCondition',
    field: 'filters',
    alias: 'condition',
    values: [createPlanFilter('pro'), createPlanFilter('free')],
    path: () => '/segments/preview',
    rest: {},
  },
  {
    schema: 'SendEmail',
    field: 'reply',
    alias: 'replyTo',
    values: ['a@sender.test', 'b@sender.test'],
    path: () => '/v1/send',
    rest: { to: 'someone@to.test', subject: 'Hello', body: '<p>Hello</p>', from: 'news@sender.test' },
  },
];

describe('a field that has two names', () => {
  it.each(ALIASES)('$alias of $schema is another name of $field, and two different values are refused', async (one) => {
    const { field, alias, method = 'POST' } = one;
    const [first, second] = one.values;
    const sendChange = async (names: object) => api.call(method, await one.path(), { body: { ...one.rest, ...names } });
    for (const names of [{ [alias]: first }, { [field]: first }, { [field]: first, [alias]: first }]) {
      const { status, body } = await sendChange(names);
      expect(status, JSON.stringify([names, body])).toBeLessThan(300);
    }
    for (const names of [
      { [field]: first, [alias]: second },
      { [alias]: first, [field]: second },
    ]) {
      const { status, body } = await sendChange(names);
      const message = `\`${field}\` and \`${alias}\` are two names of one field and have different values here. Send one of them.`;
      expect([status, body.error?.errors], JSON.stringify(body)).toEqual([
        422,
        [{ field: alias, message, code: 'custom' }],
      ]);
    }
  });

  it('every alias that a request schema documents is in the table of this test', () => {
    const schemas: Record<string, { properties?: Record<string, unknown> }> = JSON.parse(
      JSON.stringify(createOpenApiDocument(api.app)),
    ).components.schemas;
    const documented = Object.entries(schemas).flatMap(([schema, { properties = {} }]) =>
      Object.entries(properties).flatMap(([alias, property]) => {
        const [, field] = /"x-alias-of":"(\w+)"/.exec(JSON.stringify(property)) ?? [];
        return field ? [`${schema}.${alias} = ${field}`] : [];
      }),
    );
    const tested = ALIASES.map(({ schema, alias, field }) => `${schema}.${alias} = ${field}`);
    expect([...new Set(documented)].sort()).toEqual([...new Set(tested)].sort());
  });

  it('takes the edited name if a record was read, edited under one name and sent back', async () => {
    const campaign = await create('/campaigns', {
      ...audience,
      audienceType: 'FILTERED',
      audienceFilter: createPlanFilter('old'),
    });
    for (const name of ['filters', 'audienceCondition', 'audienceFilter']) {
      const { body: read } = await api.call('GET', `/campaigns/${campaign.id}`);
      const edited = { ...read, [name]: createPlanFilter(name) };
      const { status, body } = await api.call('PUT', `/campaigns/${campaign.id}`, { body: edited });
      expect([status, body.audienceFilter, body.filters]).toEqual([
        200,
        createPlanFilter(name),
        createPlanFilter(name),
      ]);
    }
    const workflow = await create('/workflows', { name: 'W', eventName: 'signup' });
    const { body: read } = await api.call('GET', `/workflows/${workflow.id}`);
    const triggerConfig = { eventName: 'purchase', includeAutomatic: true };
    const changed = await api.call('PATCH', `/workflows/${workflow.id}`, { body: { ...read, triggerConfig } });
    expect(changed.body).toMatchObject({ eventName: 'purchase', includeAutomatic: true, triggerConfig });
    const cleared = await api.call('PATCH', `/workflows/${workflow.id}`, {
      body: { ...changed.body, eventName: null },
    });
    expect(cleared.body).toMatchObject({ eventName: null, includeAutomatic: true });
    const segment = await createSegment();
    const edited = { ...segment, condition: reorderKeys(createPlanFilter('new')) };
    const { body: after } = await api.call('PATCH', `/segments/${segment.id}`, { body: edited });
    expect([after.filters, after.condition]).toEqual([createPlanFilter('new'), createPlanFilter('new')]);
  });

  it('accepts both names if their objects differ only in the order of keys', async () => {
    const body = {
      name: `Segment ${++count}`,
      filters: createPlanFilter('pro'),
      condition: reorderKeys(createPlanFilter('pro')),
    };
    expect((await api.call('POST', '/segments', { body })).status).toBe(201);
  });

  it('is refused if a workflow’s field and its triggerConfig differ', async () => {
    const body = { name: 'W', eventName: 'signup', triggerConfig: { eventName: 'purchase' } };
    const { status, body: response } = await api.call('POST', '/workflows', { body });
    expect([status, response.error.errors[0].field]).toEqual([422, 'triggerConfig.eventName']);
  });

  it('does not send a campaign immediately if one of the two names schedules it', async () => {
    const { id } = await createCampaign();
    const body = { scheduledFor: null, scheduledAt: '2031-01-01T09:00:00Z' };
    expect((await api.call('POST', `/campaigns/${id}/send`, { body })).status).toBe(422);
    expect((await api.call('GET', `/campaigns/${id}`)).body.status).toBe('DRAFT');
  });
});
