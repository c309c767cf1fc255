import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/transaction.ts';
import { patchContact } from '../../engine/contacts/patch-contact.ts';
import { recordEvents } from '../../engine/events/record-events.ts';
import { computeSegment } from '../../engine/segments/compute.ts';
import { markTrusted } from '../../rules/provenance/provenance.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

const suppressionKey = Buffer.alloc(32, 7);
const PAUSE = { pause: { type: 'DELAY' as const, config: { amount: 1, unit: 'days' } } };

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

/** Builds a contact with a running execution whose depth is `depth`. */
async function buildCause(name: string, depth: number): Promise<{ contactId: string; causeId: string; email: string }> {
  const email = `${name}@example.com`;
  const workflow = await buildWorkflow(api, { eventName: `begin-${name}`, steps: PAUSE });
  const { data } = await expectOk(api.call('POST', '/v1/track', { body: { email, event: `begin-${name}` } }));
  const { rows } = await sql<{ id: string }>`
    UPDATE executions SET depth = ${depth} WHERE workflow_id = ${workflow.id} RETURNING id
  `.execute(api.db);
  return { contactId: data.contact, causeId: rows[0]?.id ?? '', email };
}

async function listDepths(workflowId: string): Promise<{ depth: number }[]> {
  const { rows } = await sql<{ depth: number }>`SELECT depth FROM executions WHERE workflow_id = ${workflowId}`.execute(
    api.db,
  );
  return rows;
}

const readError = async (id: string) =>
  (await sql<{ error: string | null }>`SELECT error FROM executions WHERE id = ${id}`.execute(api.db)).rows[0]?.error;

describe('an event that a step caused', () => {
  it('starts executions with a depth one higher than the depth of the causing execution', async () => {
    const { contactId, causeId } = await buildCause('near', 8);
    const workflow = await buildWorkflow(api, { eventName: 'link', steps: PAUSE });
    const events = [{ contactId, name: 'link', data: {}, untrusted: false, untrustedTrigger: false, causeId }];
    await inTransaction(api.db, (trx) => recordEvents(trx, { projectId: api.one.id, events }));
    expect(await listDepths(workflow.id)).toEqual([{ depth: 9 }]);
    expect(await readError(causeId)).toBeNull();
  });

  it('starts no execution beyond depth ten, but still ends waits; the same event of another contact starts an execution', async () => {
    const { contactId, causeId, email } = await buildCause('deep', 9);
    const waiting = await buildWorkflow(api, {
      eventName: 'expect',
      steps: { wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'tenth' } } },
    });
    await expectOk(api.call('POST', '/v1/track', { body: { email, event: 'expect' } }));
    const other = await expectOk(api.call('POST', '/v1/track', { body: { email: 'other@example.com', event: 'x' } }));
    const workflow = await buildWorkflow(api, { eventName: 'tenth', steps: PAUSE });
    const events = [
      { contactId, name: 'tenth', data: {}, untrusted: false, untrustedTrigger: false, causeId },
      {
        contactId: other.data.contact,
        name: 'tenth',
        data: {},
        untrusted: false,
        untrustedTrigger: false,
        causeId: null,
      },
    ];
    const recorded = await inTransaction(api.db, (trx) => recordEvents(trx, { projectId: api.one.id, events }));
    expect(await listDepths(workflow.id)).toEqual([{ depth: 0 }]);
    expect(recorded.outbox.map((row) => row.kind).sort()).toEqual(['execution.event', 'execution.start']);
    expect(await readError(causeId)).toBe('event_depth');
    const { data } = await expectOk(api.call('GET', '/events?eventName=tenth'));
    expect(data).toHaveLength(2);
    const satisfied = await sql`
      SELECT 1 FROM execution_waits w JOIN executions e ON e.id = w.execution_id
      WHERE e.workflow_id = ${waiting.id} AND w.event_id IS NOT NULL
    `.execute(api.db);
    expect(satisfied.rows).toHaveLength(1);
  });

  it('records no event_depth error on the causing execution if no workflow would have started', async () => {
    const { contactId, causeId } = await buildCause('unheard', 9);
    const events = [{ contactId, name: 'unheard', data: {}, untrusted: false, untrustedTrigger: false, causeId }];
    await inTransaction(api.db, (trx) => recordEvents(trx, { projectId: api.one.id, events }));
    expect(await readError(causeId)).toBeNull();
  });
});

describe('an execution that starts when a contact enters a segment', () => {
  const buildEntryWorkflow = async (name: string) => {
    const filter = { field: `data.${name}`, operator: 'equals', value: 'yes' };
    const filters = { operator: 'AND', conditions: [filter] };
    const body = { name, type: 'DYNAMIC', trackMembership: true, filters };
    const segment = await expectOk(api.call('POST', '/segments', { body }));
    const eventName = `segment.${segment.slug}.entry`;
    const workflow = await buildWorkflow(api, { eventName, steps: PAUSE });
    return { workflow, compute: () => computeSegment(api.db, { projectId: api.one.id, segmentId: segment.id }) };
  };
  const changeData = (contactId: string, data: Record<string, string>, causeId: string | null = null) =>
    inTransaction(api.db, (trx) =>
      patchContact(trx, {
        projectId: api.one.id,
        id: contactId,
        suppressionKey,
        causeId,
        data: markTrusted(data),
        untrustedTrigger: false,
      }),
    );

  it('because of a step has a depth one higher', async () => {
    const { contactId, causeId } = await buildCause('stepped', 3);
    const { workflow, compute } = await buildEntryWorkflow('stepped');
    await changeData(contactId, { stepped: 'yes' }, causeId);
    await compute();
    expect(await listDepths(workflow.id)).toEqual([{ depth: 4 }]);
  });

  it('because of a request has depth zero, also after an earlier step', async () => {
    const { contactId, causeId } = await buildCause('asked', 3);
    const { workflow, compute } = await buildEntryWorkflow('asked');
    await changeData(contactId, { other: 'yes' }, causeId);
    await changeData(contactId, { asked: 'yes' });
    await compute();
    expect(await listDepths(workflow.id)).toEqual([{ depth: 0 }]);
  });

  it('has depth zero if the step ran before the last computation of the segment', async () => {
    const { contactId, causeId } = await buildCause('late', 3);
    const { workflow, compute } = await buildEntryWorkflow('late');
    await changeData(contactId, { other: 'yes' }, causeId);
    await compute();
    // The condition becomes true without a recorded change of the contact, because this statement bypasses the service.
    await sql`UPDATE contacts SET data = data || '{"late": "yes"}' WHERE id = ${contactId}`.execute(api.db);
    await compute();
    expect(await listDepths(workflow.id)).toEqual([{ depth: 0 }]);
  });
});
