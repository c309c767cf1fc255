import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { buildContacts } from '../build/campaigns.ts';
import { buildTemplate } from '../build/senders.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import { useCampaignService } from '../support/campaign-service.ts';
import { until } from '../support/until.ts';

const campaigns = useCampaignService();

const setCap = (cap: { max: number; days: number } | null) =>
  sql`UPDATE projects SET frequency_max = ${cap?.max ?? null}, frequency_days = ${cap?.days ?? null}
    WHERE id = ${campaigns.project.id}`.execute(campaigns.service.db);

async function sendCampaign(): Promise<string> {
  const id = await campaigns.create();
  await campaigns.send(id);
  return id;
}

/** Returns how many contacts got each number of emails. */
async function countReceived(): Promise<Record<string, number>> {
  const { rows } = await sql<{ emails: number; contacts: number }>`
    SELECT emails, count(*) AS contacts FROM (
      SELECT count(e.id) FILTER (WHERE e.sent_at IS NOT NULL) AS emails FROM contacts c LEFT JOIN emails e ON e.contact_id = c.id
      WHERE c.project_id = ${campaigns.project.id} GROUP BY c.id) AS each GROUP BY emails
  `.execute(campaigns.service.db);
  return Object.fromEntries(rows.map(({ emails, contacts }) => [emails, contacts]));
}

describe('a frequency cap', () => {
  it('skips contacts that reached it, and counts emails from before it was set', async () => {
    const { id: projectId } = campaigns.project;
    await buildContacts(campaigns.service.db, { projectId, count: 3 });
    const first = await sendCampaign();
    await campaigns.waitForStatus(first, 'SENT');
    await setCap({ max: 1, days: 7 });
    const second = await sendCampaign();
    await campaigns.waitForStatus(second, 'SENT');
    expect(await campaigns.countOutcomes(second)).toEqual({ 'FAILED frequency_capped': 3 });
    expect((await campaigns.call('GET', `/campaigns/${second}/stats`)).body).toMatchObject({
      total: 3,
      skipped: 3,
      sent: 0,
    });
    // Makes the first campaign look as if it had been sent eight days ago. The second campaign sent no email, so it
    // does not count.
    await sql`UPDATE emails SET sent_at = sent_at - interval '8 days' WHERE campaign_id = ${first}`.execute(
      campaigns.service.db,
    );
    const third = await sendCampaign();
    await campaigns.waitForStatus(third, 'SENT');
    expect(await campaigns.countOutcomes(third)).toEqual({ SENT: 3 });
    const fourth = await sendCampaign();
    await campaigns.waitForStatus(fourth, 'SENT');
    expect(await campaigns.countOutcomes(fourth)).toEqual({ 'FAILED frequency_capped': 3 });
    // Failed emails do not count toward the cap.
    await sql`UPDATE emails SET status = 'FAILED', sent_at = NULL WHERE campaign_id = ${third}`.execute(
      campaigns.service.db,
    );
    const fifth = await sendCampaign();
    await campaigns.waitForStatus(fifth, 'SENT');
    expect(await campaigns.countOutcomes(fifth)).toEqual({ SENT: 3 });
  });

  it('allows exactly its number of emails, with any number of concurrent senders', async () => {
    const { id: projectId, secretKey: key } = campaigns.project;
    const count = 60;
    const max = 2;
    await buildContacts(campaigns.service.db, { projectId, count });
    await setCap({ max, days: 1 });
    const templateId = await buildTemplate(campaigns.service.db, {
      projectId,
      type: 'MARKETING',
      from: 'a@sender.test',
    });
    const call: typeof campaigns.service.call = (method, path, options) =>
      campaigns.service.call(method, path, { ...options, key });
    const steps = {
      mail: { type: 'SEND_EMAIL' as const, config: { templateId }, to: 'again' },
      again: { type: 'SEND_EMAIL' as const, config: { templateId }, to: 'last' },
      // The contact gets one email more than the cap allows, so one step is skipped.
      last: { type: 'SEND_EMAIL' as const, config: { templateId }, to: 'end' },
      end: { type: 'EXIT' as const, config: {} },
    };
    const workflow = await buildWorkflow({ call }, { steps });
    const drafts = [await campaigns.create(), await campaigns.create(), await campaigns.create()];
    const tracked = Array.from({ length: count }, (_, n) =>
      expectOk(call('POST', '/v1/track', { body: { email: `r${n}@to.test`, event: 'signup' } })),
    );
    await Promise.all([...drafts.map((id) => campaigns.send(id)), ...tracked]);
    // Emails of executions are sent before campaigns, and three times 60 emails take time on a busy machine.
    await until(async () => {
      const { body } = await call('GET', `/workflows/${workflow.id}/executions?limit=100`);
      return body.data.filter((one: { status: string }) => one.status === 'EXITED').length === count;
    }, 'the end of all executions');
    for (const id of drafts) await campaigns.waitForStatus(id, 'SENT');
    expect(await countReceived()).toEqual({ [max]: count });
    const skipped = await sql<{ status: string }>`
      SELECT DISTINCT s.status FROM execution_steps s JOIN executions x ON x.id = s.execution_id
      WHERE x.workflow_id = ${workflow.id} AND s.output->>'reason' = 'frequency_capped'
    `.execute(campaigns.service.db);
    expect(skipped.rows).toEqual([{ status: 'SKIPPED' }]);
  });
});
