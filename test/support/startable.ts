import { sql } from 'kysely';
import { uuidv7 } from '../../rules/uuid.ts';
import { buildContacts, createCampaignBody } from '../build/campaigns.ts';
import { buildContact, buildEmail } from '../build/emails.ts';
import { buildSentCampaign } from '../build/recipients.ts';
import { buildDomain } from '../build/senders.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import type { TestApi } from './api.ts';

/** A request that succeeds, for an operation whose documented example fails in a test. */
export interface Start {
  /** Ids of records for the parameters of the path. */
  ids?: Record<string, string>;
  body?: object;
  /** Ids of another record, for an operation without a body. By default, they are unknown ids. */
  otherIds?: Record<string, string>;
  /** A different valid body. By default, one value of `body` is changed. */
  otherBody?: object;
}

const GIF = Buffer.from('R0lGODlhAgADAIAAAAAAAP///yH5BAEAAAAALAAAAAACAAMAAAICRF4AOw==', 'base64');

/** Two different forms for each operation with a multipart body. */
export const FORMS: Record<string, () => [FormData, FormData]> = {
  'POST /contacts/import': () => [createForm('email\na@x.test\n', 'a.csv'), createForm('email\nb@x.test\n', 'a.csv')],
  'POST /contacts/import/preview': () => [createForm('email\na@x.test\n', 'a.csv'), createForm('email\n', 'a.csv')],
  // Bytes after the end of a GIF do not change the image.
  'POST /assets': () => [createForm(GIF, 'a.gif'), createForm(Buffer.concat([GIF, Buffer.from('x')]), 'a.gif')],
};

function createForm(content: string | Buffer, name: string): FormData {
  const form = new FormData();
  form.set('file', new File([content], name));
  return form;
}

/**
 * Builds the records that the operations of a project need to start something. Returns a request for each such
 * operation, by the operation's name. The project may be empty.
 */
export async function buildStartable(api: TestApi): Promise<Record<string, Start>> {
  const { db, one } = api;
  const projectId = one.id;
  await buildDomain(db, { projectId, domain: 'sender.test' });
  await buildContacts(db, { projectId, count: 2, localPart: 'startable' });
  const contactId = await buildContact(db, { projectId });
  const createCampaign = async (changes: object = {}): Promise<string> =>
    (await expectOk(api.call('POST', '/campaigns', { body: createCampaignBody({ ...changes }) }))).data.id;
  const createSendingCampaign = async (changes: object = {}): Promise<string> => {
    const id = await createCampaign(changes);
    await expectOk(api.call('POST', `/campaigns/${id}/send`));
    return id;
  };
  const scheduled = await createCampaign();
  await expectOk(api.call('POST', `/campaigns/${scheduled}/send`, { body: { scheduledFor: '2030-01-01' } }));
  const paused = await createSendingCampaign();
  await expectOk(api.call('POST', `/campaigns/${paused}/pause`));
  const tested = await createSendingCampaign({
    variants: [{ name: 'A' }, { name: 'B', subject: 'Other news' }],
    test: { share: 0.5 },
  });
  const failed = await buildSentCampaign(db, {
    projectId,
    count: 1,
    status: `'FAILED'`,
    reason: `'provider_rejected'`,
  });
  await sql`UPDATE campaigns SET from_email = 'a@sender.test' WHERE id = ${failed}`.execute(db);

  const workflow = await buildWorkflow(api, {
    eventName: 'startable',
    steps: { wait: { type: 'DELAY', config: { amount: 1, unit: 'days' }, to: 'end' }, end: { type: 'EXIT' } },
  });
  const unconnected = await buildWorkflow(api, {
    steps: { a: { type: 'DELAY', config: { amount: 1, unit: 'days' } }, b: { type: 'EXIT' } },
    enabled: false,
  });
  const startExecution = async (): Promise<Record<string, string>> => {
    const body = { contactId: await buildContact(db, { projectId }) };
    const { id } = await expectOk(api.call('POST', `/workflows/${workflow.id}/executions`, { body }));
    return { id: workflow.id, executionId: id };
  };
  const waiting = await startExecution();
  await sql`
    UPDATE executions SET current_step_id = ${workflow.steps.wait} WHERE id = ${waiting.executionId}`.execute(db);
  const broken = await startExecution();
  await sql`
    UPDATE executions SET status = 'FAILED', completed_at = now(), current_step_id = ${workflow.steps.wait}
    WHERE id = ${broken.executionId}`.execute(db);

  const tracked = await expectOk(
    api.call('POST', '/segments', {
      body: {
        name: 'Startable',
        trackMembership: true,
        filters: {
          logic: 'AND',
          groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
        },
      },
    }),
  );
  const buildFailedEmail = () => buildEmail(db, { projectId, contactId, status: 'FAILED', from: 'a@sender.test' });
  const endpoint = await expectOk(
    api.call('POST', '/webhooks', { body: { url: 'https://hooks.example.com/startable', events: ['*'] } }),
  );
  const deliveryId = uuidv7();
  await db
    .insertInto('webhook_deliveries')
    .values({
      id: deliveryId,
      project_id: projectId,
      endpoint_id: endpoint.id,
      event_id: uuidv7(),
      event_name: 'startable',
      status: 'FAILED',
      payload: JSON.stringify({ contact: null, event: {} }),
    })
    .execute();
  const variant = { variantId: '4711', productTitle: 'Jumper', title: 'Blue, M', available: false };
  await expectOk(api.call('PUT', '/storefront/variants', { body: { variants: [variant] } }));

  const steps = { fromStepId: unconnected.steps.a, toStepId: unconnected.steps.b };
  return {
    'POST /campaigns/{id}/send': {
      ids: { id: await createCampaign() },
      body: { scheduledFor: '2030-01-01T12:00:00Z' },
      otherBody: { scheduledFor: '2031-01-01T12:00:00Z' },
    },
    'POST /campaigns/{id}/cancel': { ids: { id: scheduled } },
    'POST /campaigns/{id}/pause': { ids: { id: await createSendingCampaign() } },
    'POST /campaigns/{id}/resume': { ids: { id: paused } },
    'POST /campaigns/{id}/winner': { ids: { id: tested } },
    'POST /campaigns/{id}/test': { ids: { id: await createCampaign() } },
    'POST /campaigns/{id}/retry': { ids: { id: failed }, otherBody: { reasons: ['expired'] } },
    'POST /workflows/{id}/transitions': {
      ids: { id: unconnected.id },
      body: steps,
      otherBody: { fromStepId: steps.toStepId, toStepId: steps.fromStepId },
    },
    'POST /workflows/{id}/executions': {
      ids: { id: workflow.id },
      body: { contactId, context: { coupon: 'SPRING' } },
      otherBody: { contactId, context: { coupon: 'SUMMER' } },
    },
    'POST /workflows/{id}/executions/{executionId}/advance': {
      ids: waiting,
      body: {},
      otherBody: { branch: 'timeout' },
    },
    'POST /workflows/{id}/executions/{executionId}/retry': { ids: broken },
    'POST /events/track': { body: { name: 'signup', contactId } },
    'POST /domains': { body: { domain: 'startable.example.net' } },
    'POST /segments/{id}/compute': { ids: { id: tracked.id } },
    'POST /emails/{id}/resend': { ids: { id: await buildFailedEmail() }, otherIds: { id: await buildFailedEmail() } },
    'POST /webhooks/{id}/deliveries/{deliveryId}/replay': { ids: { id: endpoint.id, deliveryId } },
    'POST /webhooks/{id}/replay': {
      body: { since: '2026-01-01T12:00:00.000Z' },
      otherBody: { since: '2026-01-02T12:00:00.000Z' },
    },
    'POST /sms/senders': {
      body: { country: 'FR', from: '+15005550006' },
      otherBody: { country: 'ES', from: '+15005550006' },
    },
    'POST /segments': { body: { name: 'Startable too', type: 'STATIC' } },
    'POST /topics': { body: { name: 'Startable' } },
    'POST /back-in-stock': { body: { email: 'ada@example.com', storefrontVariantId: '4711' } },
  };
}
