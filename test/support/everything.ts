import { v7 as uuidv7 } from 'uuid';
import type { Db } from '../../db/connection.ts';
import { generateSecretKey } from '../../rules/access/api-keys.ts';

/**
 * Builds one record of every type in a project. Returns a function that returns the id of a record for the first part
 * of a path and the name of a parameter. A new resource needs a line here, otherwise the access tests fail.
 */
export async function buildEverything(
  db: Db,
  projectId: string,
): Promise<(path: string, param: string) => string | undefined> {
  const id = () => uuidv7();
  const email = `${id()}@everything.test`;
  const project_id = projectId;
  const ids = {
    contact: id(),
    template: id(),
    campaign: id(),
    segment: id(),
    topic: id(),
    workflow: id(),
    step: id(),
    nextStep: id(),
    transition: id(),
    execution: id(),
    importJob: id(),
    bulkJob: id(),
    domain: id(),
    content: id(),
    email: id(),
    sms: id(),
    sender: id(),
    apiKey: id(),
    endpoint: id(),
    delivery: id(),
    request: id(),
    person: id(),
    invitation: id(),
    asset: id(),
    attachment: id(),
  };
  await db.insertInto('contacts').values({ id: ids.contact, project_id, email, subscribed: true }).execute();
  const mail = { subject: 's', body: '<p>b</p>', from_email: email };
  await db
    .insertInto('templates')
    .values({ id: ids.template, project_id, name: 't', subject: 's', body: 'b', type: 'MARKETING' })
    .execute();
  await db
    .insertInto('campaigns')
    .values({ id: ids.campaign, project_id, name: 'c', ...mail, audience_type: 'ALL' })
    .execute();
  await db
    .insertInto('segments')
    .values({ id: ids.segment, project_id, name: 's', slug: `s-${ids.segment}`, type: 'STATIC' })
    .execute();
  await db
    .insertInto('topics')
    .values({ id: ids.topic, project_id, name: ids.topic, slug: ids.topic, default_subscribed: true })
    .execute();
  await db
    .insertInto('workflows')
    .values({ id: ids.workflow, project_id, name: 'w', event_name: 'signed-up', entry_step_id: ids.step })
    .execute();
  const step = { project_id, workflow_id: ids.workflow, name: 'x', type: 'EXIT' as const };
  await db
    .insertInto('workflow_steps')
    .values([
      { ...step, id: ids.step, type: 'DELAY', config: JSON.stringify({ amount: 1, unit: 'days' }) },
      { ...step, id: ids.nextStep },
    ])
    .execute();
  await db
    .insertInto('workflow_transitions')
    .values({
      id: ids.transition,
      project_id,
      workflow_id: ids.workflow,
      from_step_id: ids.step,
      to_step_id: ids.nextStep,
    })
    .execute();
  await db
    .insertInto('executions')
    .values({ id: ids.execution, project_id, workflow_id: ids.workflow, contact_id: ids.contact, entry: 1 })
    .execute();
  await db
    .insertInto('jobs')
    .values([
      { id: ids.importJob, project_id, kind: 'import' },
      { id: ids.bulkJob, project_id, kind: 'bulk-delete' },
    ])
    .execute();
  await db
    .insertInto('domains')
    .values({
      id: ids.domain,
      project_id,
      domain: `${ids.domain}.test`,
      dkim_selector: 'x',
      dkim_private_key: 'x',
      dkim_public_key: 'x',
    })
    .execute();
  await db
    .insertInto('contents')
    .values({ id: ids.content, project_id, hash: Buffer.from(ids.content), ...mail, type: 'TRANSACTIONAL' })
    .execute();
  await db
    .insertInto('attachments')
    .values({
      id: ids.attachment,
      project_id,
      filename: 'f.txt',
      content_type: 'text/plain',
      disposition: 'attachment',
      content_id: null,
      content: Buffer.from('x'),
    })
    .execute();
  await db
    .insertInto('emails')
    .values({
      id: ids.email,
      project_id,
      contact_id: ids.contact,
      content_id: ids.content,
      source_type: 'TRANSACTIONAL',
      to_email: email,
      options: JSON.stringify({ attachmentIds: [ids.attachment] }),
    })
    .execute();
  await db
    .insertInto('sms_messages')
    .values({
      id: ids.sms,
      project_id,
      to_phone: '+4915112345678',
      from_phone: '+15005550006',
      country: 'DE',
      body: 'b',
      encoding: 'GSM7',
      segments: 1,
    })
    .execute();
  await db
    .insertInto('sms_senders')
    .values({ id: ids.sender, project_id, country: 'DE', from_phone: '+15005550006' })
    .execute();
  await db
    .insertInto('webhook_endpoints')
    .values({ id: ids.endpoint, project_id, url: 'https://hooks.example.com', events: ['*'], secret: 'sealed' })
    .execute();
  await db
    .insertInto('webhook_deliveries')
    .values({
      id: ids.delivery,
      project_id,
      endpoint_id: ids.endpoint,
      event_id: id(),
      event_name: 'signed-up',
      payload: '{}',
    })
    .execute();
  await db
    .insertInto('users')
    .values({ id: ids.person, email: `${ids.person}@people.test`, password_hash: 'none' })
    .execute();
  await db.insertInto('memberships').values({ project_id, user_id: ids.person, role: 'OWNER' }).execute();
  await db
    .insertInto('invitations')
    .values({
      id: ids.invitation,
      project_id,
      email,
      role: 'MEMBER',
      invited_by: ids.person,
      token_hash: Buffer.from(ids.invitation),
      expires_at: new Date(Date.now() + 3_600_000),
    })
    .execute();
  await db
    .insertInto('assets')
    .values({
      id: ids.asset,
      project_id,
      hash: ids.asset,
      content_type: 'image/gif',
      bytes: 1,
      width: 1,
      height: 1,
      content: Buffer.from('x'),
    })
    .execute();
  const request = { id: ids.request, request_id: ids.request, method: 'GET', route: '/contacts', status: 200, ms: 1 };
  await db
    .insertInto('requests')
    .values({ ...request, project_id, actor: 'public' })
    .execute();
  const { hash, prefix } = generateSecretKey('live');
  await db
    .insertInto('api_keys')
    .values({ id: ids.apiKey, project_id, name: 'k', key_hash: hash, prefix, scopes: [], mode: 'live' })
    .execute();

  const known: Record<string, string> = {
    'apikeys id': ids.apiKey,
    'assets id': ids.asset,
    'campaigns id': ids.campaign,
    'contacts id': ids.contact,
    'contacts/import jobId': ids.importJob,
    'contacts/bulk jobId': ids.bulkJob,
    'contacts/jobs jobId': ids.importJob,
    'domains id': ids.domain,
    'domains projectId': projectId,
    'emails id': ids.email,
    'emails attachmentId': ids.attachment,
    'events contactId': ids.contact,
    'operator id': projectId,
    'segments id': ids.segment,
    'sms id': ids.sms,
    'sms/senders id': ids.sender,
    'team/members userId': ids.person,
    'team/invitations id': ids.invitation,
    'templates id': ids.template,
    'topics id': ids.topic,
    'requests requestId': ids.request,
    'webhooks id': ids.endpoint,
    'webhooks deliveryId': ids.delivery,
    'workflows id': ids.workflow,
    'workflows stepId': ids.step,
    'workflows transitionId': ids.transition,
    'workflows executionId': ids.execution,
  };
  return (path, param) => {
    const [first = '', second = ''] = path.replace(/^\/v1/, '').split('/').filter(Boolean);
    return known[`${first}/${second} ${param}`] ?? known[`${first} ${param}`];
  };
}
