import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { saveContent } from '../../db/contents/contents.ts';
import { mergeVisitCounts } from '../../db/executions/step-stats.ts';
import { NO_TEXT } from '../../rules/content/email-text.ts';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk } from '../build/workflows.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { forgeCursor } from '../support/cursors.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

const track = async (email: string, event: string, data = {}) =>
  (await expectOk(api.call('POST', '/v1/track', { body: { email, event, data } }))).data.contact as string;

const buildConditionWorkflow = (eventName: string) =>
  buildWorkflow(api, {
    eventName,
    steps: {
      asks: {
        type: 'CONDITION',
        config: { field: 'event.plan', operator: 'equals', value: 'pro' },
        to: { yes: 'pause', no: 'end' },
      },
      pause: { type: 'DELAY', config: { amount: 1, unit: 'days' }, to: 'end' },
      end: { type: 'EXIT' },
    },
  });

/** Adds to each execution a completed visit to the step with a sent email. Two emails are opened, one is clicked. */
async function buildSentEmails(workflowId: string, stepId: string): Promise<void> {
  const contentId = await saveContent(api.db, {
    ...NO_TEXT,
    projectId: api.one.id,
    subject: 'x',
    body: 'x',
    from: 'x@shop.example.com',
    fromName: null,
    type: 'MARKETING',
    templateId: null,
  });
  await sql`
    INSERT INTO execution_steps (execution_id, visit, project_id, step_id, type, status, started_at, completed_at)
    SELECT id, 50, project_id, ${stepId}, 'SEND_EMAIL', 'COMPLETED', now(), now() FROM executions WHERE workflow_id = ${workflowId}
  `.execute(api.db);
  await sql`
    INSERT INTO emails (project_id, content_id, execution_id, visit, source_type, status, sent_at, opened_at, clicked_at)
    SELECT project_id, ${contentId}, id, 50, 'WORKFLOW', 'SENT', now(), CASE WHEN n < 3 THEN now() END, CASE WHEN n < 2 THEN now() END
    FROM (SELECT *, row_number() OVER (ORDER BY id) AS n FROM executions WHERE workflow_id = ${workflowId}) e
  `.execute(api.db);
}

const NONE = { waiting: 0, running: 0, completed: 0, failed: 0, skipped: 0 };
const readStats = async ({ id, steps }: BuiltWorkflow, query = '') => {
  const stats = await expectOk(api.call('GET', `/workflows/${id}/stats${query}`));
  const named = Object.entries(steps).map(([name, stepId]) => {
    const found = stats.steps.find((step: { stepId: string }) => step.stepId === stepId);
    const { waiting, running, completed, failed, skipped, branches } = found;
    return [name, { waiting, running, completed, failed, skipped, branches }];
  });
  return Object.fromEntries(named);
};

describe('the stats of a workflow', () => {
  it('count the visits to each step by result and by branch', async () => {
    const workflow = await buildConditionWorkflow('counted');
    expect(await readStats(workflow)).toEqual({
      asks: { ...NONE, branches: { yes: 0, no: 0 } },
      pause: { ...NONE, branches: {} },
      end: { ...NONE, branches: {} },
    });
    for (const n of [1, 2, 3]) await track(`pro-${n}@example.com`, 'counted', { plan: 'pro' });
    await track('free@example.com', 'counted', { plan: 'free' });
    const all = {
      asks: { ...NONE, completed: 4, branches: { yes: 3, no: 1 } },
      pause: { ...NONE, waiting: 3, branches: {} },
      end: { ...NONE, completed: 1, branches: {} },
    };
    expect(await readStats(workflow)).toEqual(all);
    await expectOk(api.call('POST', `/workflows/${workflow.id}/executions/cancel-all`));
    expect((await readStats(workflow)).pause).toEqual({ ...NONE, branches: {} });
  });

  it('have the results of the latest emails for email steps only', async () => {
    await buildDomain(api.db, { projectId: api.one.id });
    const workflow = await buildWorkflow(api, {
      eventName: 'mailed',
      steps: {
        mail: {
          type: 'SEND_EMAIL',
          config: { templateId: await buildTemplate(api.db, { projectId: api.one.id }) },
          to: 'end',
        },
        end: { type: 'EXIT' },
      },
    });
    for (const n of [1, 2, 3]) await track(`m-${n}@example.com`, 'mailed');
    await buildSentEmails(workflow.id, workflow.steps.mail ?? '');
    const readEmailStats = async (query = '') =>
      Object.fromEntries(
        (await expectOk(api.call('GET', `/workflows/${workflow.id}/stats${query}`))).steps.map(
          ({ stepId, emails }: { stepId: string; emails: unknown }) => [stepId, emails],
        ),
      );
    const { mail = '', end = '' } = workflow.steps;
    expect(await readEmailStats()).toEqual({ [mail]: { sent: 3, opened: 2, clicked: 1 }, [end]: null });
    const later = new Date(Date.now() + 60_000).toISOString();
    expect((await readEmailStats(`?since=${later}`))[mail]).toEqual({ sent: 0, opened: 0, clicked: 0 });
  });

  it('count the visits of a time span to the millisecond, in full hours and in parts of hours', async () => {
    const workflow = await buildConditionWorkflow('timed');
    for (const n of [1, 2, 3, 4]) await track(`t-${n}@example.com`, 'timed', { plan: 'free' });
    // Moves the visits to these times.
    const times = [
      '2026-03-01T09:59:59.999Z',
      '2026-03-01T10:00:00.000Z',
      '2026-03-01T11:30:00.000Z',
      '2026-03-02T00:00:00.000Z',
    ];
    const { rows } = await sql<{
      id: string;
    }>`SELECT id FROM executions WHERE workflow_id = ${workflow.id} ORDER BY id`.execute(api.db);
    await sql`TRUNCATE step_visit_counts`.execute(api.db);
    for (const [index, { id }] of rows.entries()) {
      const at = sql`${times[index]}::timestamptz`;
      await sql`WITH gone AS (DELETE FROM execution_steps WHERE execution_id = ${id} RETURNING *)
        INSERT INTO execution_steps (execution_id, visit, project_id, step_id, type, status, started_at, completed_at, output)
        SELECT execution_id, visit + 100, project_id, step_id, type, status, ${at}, ${at}, output FROM gone`.execute(
        api.db,
      );
    }
    const count = async (query: string) => (await readStats(workflow, query)).asks.branches.no;
    for (const folded of [false, true]) {
      if (folded) await mergeVisitCounts(api.db);
      expect(await count('')).toBe(4);
      expect(await count('?since=2026-03-01T10:00:00Z')).toBe(3);
      expect(await count('?since=2026-03-01T09:59:59.999Z&until=2026-03-01T11:30:00Z')).toBe(2);
      expect(await count('?since=2026-03-01T11:00:00.001Z&until=2026-03-01T11:59:00Z')).toBe(1);
      expect(await count('?until=2026-03-02T00:00:00.001Z')).toBe(4);
      expect(await count('?until=2026-03-02')).toBe(3);
      expect(await count('?since=2026-03-02T00:00:00.001Z')).toBe(0);
    }
    const { rows: left } = await sql<{ shards: number[] }>`
      SELECT array_agg(DISTINCT shard) AS shards FROM step_visit_counts WHERE step_id = ${workflow.steps.asks}
    `.execute(api.db);
    expect(left[0]?.shards).toEqual([0]);
  });

  it('omit the emails of sandbox runs', async () => {
    await buildDomain(api.db, { projectId: api.one.id, domain: 'sandbox.example.com' });
    const from = 'x@sandbox.example.com';
    const workflow = await buildWorkflow(api, {
      eventName: 'mailed-in-sandbox',
      steps: {
        mail: {
          type: 'SEND_EMAIL',
          config: { templateId: await buildTemplate(api.db, { projectId: api.one.id, from }) },
          to: 'end',
        },
        end: { type: 'EXIT' },
      },
    });
    const contactId = await track('mailed-in-sandbox@example.com', 'something-else');
    const body = { contactId, sandbox: true, context: {} };
    const { id } = await expectOk(api.call('POST', `/workflows/${workflow.id}/executions`, { body }));
    await buildSentEmails(workflow.id, workflow.steps.mail ?? '');
    const { rows } = await sql`SELECT FROM emails WHERE execution_id = ${id} AND sent_at IS NOT NULL`.execute(api.db);
    expect(rows).toHaveLength(1);
    const { steps } = await expectOk(api.call('GET', `/workflows/${workflow.id}/stats`));
    expect(steps[0]).toMatchObject({ stepId: workflow.steps.mail, emails: { sent: 0, opened: 0, clicked: 0 } });
  });

  it('omit sandbox runs, as the list of contacts at a step does', async () => {
    const workflow = await buildConditionWorkflow('sandboxed');
    const contactId = await track('sandboxed@example.com', 'something-else');
    const body = { contactId, sandbox: true, context: {} };
    const { steps } = await expectOk(api.call('POST', `/workflows/${workflow.id}/executions`, { body }));
    expect(steps.length).toBeGreaterThan(0);
    const none = { ...NONE, branches: { yes: 0, no: 0 } };
    expect((await readStats(workflow)).asks).toEqual(none);
    expect((await readStats(workflow, `?since=${new Date(Date.now() - 60_000).toISOString()}`)).asks).toEqual(none);
    for (const step of Object.values(workflow.steps)) {
      expect(await expectOk(api.call('GET', `/workflows/${workflow.id}/steps/${step}/contacts`))).toMatchObject({
        data: [],
        total: 0,
      });
    }
  });

  it('keep their counts when a contact is erased, and are deleted with their step', async () => {
    const workflow = await buildConditionWorkflow('erased');
    const contactId = await track('erased@example.com', 'erased', { plan: 'free' });
    await expectOk(api.call('DELETE', `/contacts/${contactId}`));
    expect((await readStats(workflow)).asks).toEqual({ ...NONE, completed: 1, branches: { yes: 0, no: 1 } });
    await expectOk(api.call('DELETE', `/workflows/${workflow.id}/steps/${workflow.steps.asks}`));
    const { rows } = await sql`SELECT FROM step_visit_counts WHERE step_id = ${workflow.steps.asks}`.execute(api.db);
    expect(rows).toEqual([]);
  });
});

describe('the contacts at a step', () => {
  it('are the contacts that are there now, page by page, with the time at which they continue', async () => {
    const workflow = await buildConditionWorkflow('standing');
    const path = `/workflows/${workflow.id}/steps/${workflow.steps.pause}/contacts`;
    const contacts: string[] = [];
    for (const n of [1, 2, 3]) contacts.unshift(await track(`s-${n}@example.com`, 'standing', { plan: 'pro' }));
    const first = await expectOk(api.call('GET', `${path}?limit=2`));
    expect(first).toMatchObject({ hasMore: true, total: 3 });
    expect(first.data[0]).toMatchObject({
      contactId: contacts[0],
      email: 's-3@example.com',
      status: 'WAITING',
      dueAt: expect.any(String),
    });
    const second = await expectOk(api.call('GET', `${path}?limit=2&cursor=${first.cursor}`));
    expect([...first.data, ...second.data].map(({ contactId }: { contactId: string }) => contactId)).toEqual(contacts);
    expect(second).toMatchObject({ hasMore: false, cursor: null });
    const [{ executionId }] = first.data;
    await expectOk(api.call('DELETE', `/workflows/${workflow.id}/executions/${executionId}`));
    expect(await expectOk(api.call('GET', path))).toMatchObject({ total: 2 });
  });

  it('are not found in another workflow', async () => {
    const [one, two] = [await buildConditionWorkflow('one'), await buildConditionWorkflow('two')];
    const path = `/workflows/${one.id}/steps/${two.steps.pause}/contacts`;
    expect((await api.call('GET', path)).status).toBe(404);
    expect((await api.call('GET', `/workflows/${one.id}/stats`, { key: api.two.secretKey })).status).toBe(404);
  });
});

describe('the visits to a step that have ended', () => {
  const listVisits = (workflow: BuiltWorkflow, step: string, query: string, key?: string) =>
    api.call('GET', `/workflows/${workflow.id}/steps/${workflow.steps[step]}/visits?${query}`, key ? { key } : {});

  it('are listed by result, newest first, page by page, as many as the stats count', async () => {
    const workflow = await buildConditionWorkflow('ended');
    for (const n of [1, 2, 3]) await track(`e-${n}@example.com`, 'ended', { plan: n === 2 ? 'pro' : 'free' });
    const first = await expectOk(listVisits(workflow, 'asks', 'status=COMPLETED&limit=2'));
    expect(first).toMatchObject({
      hasMore: true,
      total: 3,
      data: [
        { email: 'e-3@example.com', status: 'COMPLETED', output: { branch: 'no' }, error: null },
        { email: 'e-2@example.com', status: 'COMPLETED', output: { branch: 'yes' }, completedAt: expect.any(String) },
      ],
    });
    const second = await expectOk(listVisits(workflow, 'asks', `status=COMPLETED&limit=2&cursor=${first.cursor}`));
    expect(second).toMatchObject({ hasMore: false, cursor: null, data: [{ email: 'e-1@example.com' }] });
    expect((await expectOk(listVisits(workflow, 'asks', 'limit=2'))).data).toEqual(first.data);
    const byBranch = await expectOk(listVisits(workflow, 'asks', 'branch=no&limit=1'));
    expect(byBranch).toMatchObject({ hasMore: true, total: 2, data: [{ email: 'e-3@example.com' }] });
    const next = await expectOk(listVisits(workflow, 'asks', `branch=no&limit=1&cursor=${byBranch.cursor}`));
    expect(next).toMatchObject({ hasMore: false, data: [{ email: 'e-1@example.com' }] });
    for (const query of ['branch=maybe', 'branch=no&status=FAILED'])
      expect(await expectOk(listVisits(workflow, 'asks', query)), query).toMatchObject({ data: [], total: 0 });
    expect(await expectOk(listVisits(workflow, 'asks', 'status=FAILED'))).toMatchObject({ data: [], total: 0 });
    expect(await expectOk(listVisits(workflow, 'pause', 'status=COMPLETED'))).toMatchObject({ data: [], total: 0 });
    await expectOk(api.call('POST', `/workflows/${workflow.id}/executions/cancel-all`));
    expect(await expectOk(listVisits(workflow, 'pause', 'status=CANCELLED'))).toMatchObject({
      data: [{ email: 'e-2@example.com', status: 'CANCELLED' }],
      total: null,
    });
  });

  it('are each on exactly one page if they ended at the same time', async () => {
    const workflow = await buildConditionWorkflow('at-once');
    for (const n of [1, 2, 3, 4, 5]) await track(`o-${n}@example.com`, 'at-once', { plan: 'pro' });
    await expectOk(api.call('POST', `/workflows/${workflow.id}/executions/cancel-all`));
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await expectOk(
        listVisits(workflow, 'pause', `status=CANCELLED&limit=2${cursor && `&cursor=${cursor}`}`),
      );
      seen.push(...page.data.map(({ email }: { email: string }) => email));
      cursor = page.cursor;
    } while (cursor);
    expect(seen).toEqual(['o-5', 'o-4', 'o-3', 'o-2', 'o-1'].map((name) => `${name}@example.com`));
  });

  it('omit sandbox runs', async () => {
    const workflow = await buildConditionWorkflow('only-tried');
    const contactId = await track('only-tried@example.com', 'something-else');
    const body = { contactId, sandbox: true, context: {} };
    await expectOk(api.call('POST', `/workflows/${workflow.id}/executions`, { body }));
    expect(await expectOk(listVisits(workflow, 'asks', 'status=COMPLETED'))).toMatchObject({ data: [], total: 0 });
  });

  it('can be filtered only by final statuses and valid cursors, and are visible only in their own project', async () => {
    const [one, two] = [await buildConditionWorkflow('mine'), await buildConditionWorkflow('yours')];
    expect((await listVisits(one, 'asks', 'status=WAITING')).status).toBe(400);
    for (const key of [['x'], [1, 2, 3], ['2026-99-99T00:00:00.000000Z', one.id, 1], ['2026-01-01', one.id, 1]]) {
      const path = `/workflows/${one.id}/steps/${one.steps.asks}/visits`;
      const cursor = forgeCursor({ projectId: api.one.id, path, query: { status: 'FAILED' } }, key);
      expect((await listVisits(one, 'asks', `status=FAILED&cursor=${cursor}`)).status, String(key)).toBe(400);
    }
    const strange = { id: one.id, steps: { asks: two.steps.asks ?? '' } };
    expect((await listVisits(strange, 'asks', 'status=FAILED')).status).toBe(404);
    expect((await listVisits(one, 'asks', 'status=FAILED', api.two.secretKey)).status).toBe(404);
  });
});
