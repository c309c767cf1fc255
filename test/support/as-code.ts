import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Db } from '../../db/connection.ts';
import type { TestApi } from './api.ts';

/** Builds a domain from which a project may send. */
export async function buildVerifiedDomain(db: Db, projectId: string, domain: string): Promise<void> {
  await sql`
    INSERT INTO domains (project_id, domain, status, dkim_selector, dkim_private_key, dkim_public_key)
    VALUES (${projectId}, ${domain}, 'VERIFIED', 's', 'x', 'x')`.execute(db);
}

/** Creates a record by the API and returns it. */
export async function createRecord(api: TestApi, path: string, body: object) {
  const response = await api.call('POST', path, { body });
  expect(response, `${path} ${JSON.stringify(response.body)}`).toMatchObject({ status: 201 });
  return response.body;
}

/** Builds a domain, a topic, a template, segments and a workflow in project `one`. They refer to each other. */
export async function buildResources(api: TestApi) {
  await buildVerifiedDomain(api.db, api.one.id, 'shop.example');
  const topic = await createRecord(api, '/topics', { name: 'News' });
  const template = await createRecord(api, '/templates', {
    name: 'Welcome',
    subject: 'Hi {{firstName}}',
    body: '<p>Hello</p>',
    type: 'MARKETING',
    from: 'hi@shop.example',
    topicId: topic.id,
  });
  const filters = { operator: 'AND', conditions: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] };
  const pro = await createRecord(api, '/segments', { name: 'Pro', filters });
  const nested = { field: `segment.${pro.id}`, operator: 'memberOf' };
  await createRecord(api, '/segments', { name: 'All of them', filters: { operator: 'OR', conditions: [nested] } });
  await createRecord(api, '/segments', { name: 'By hand', type: 'STATIC' });
  const workflow = await createRecord(api, '/workflows', { name: 'Onboarding', eventName: 'signup' });
  const steps = `/workflows/${workflow.id}/steps`;
  const config = { templateId: template.id };
  const hello = await createRecord(api, steps, { type: 'SEND_EMAIL', name: 'Hello', config, position: { x: 1, y: 2 } });
  const condition = await createRecord(api, steps, {
    type: 'CONDITION',
    name: 'Is pro',
    config: nested,
    autoConnect: true,
  });
  const hook = await createRecord(api, steps, {
    type: 'WEBHOOK',
    name: 'Tell us',
    config: {
      url: 'https://ada:geheim@hooks.example/in',
      headers: { Authorization: 'Bearer very-secret-token' },
      body: { templateId: template.id, field: `segment.${pro.id}` },
    },
  });
  const exit = await createRecord(api, steps, { type: 'EXIT', name: 'End' });
  const transitions = `/workflows/${workflow.id}/transitions`;
  await createRecord(api, transitions, { fromStepId: condition.id, toStepId: hook.id, branch: 'yes' });
  await createRecord(api, transitions, { fromStepId: condition.id, toStepId: exit.id, branch: 'no' });
  const enabled = await api.call('PATCH', `/workflows/${workflow.id}`, { body: { enabled: true } });
  expect(enabled.status).toBe(200);
  return { template, pro, workflow, hello, condition, hook, exit };
}
