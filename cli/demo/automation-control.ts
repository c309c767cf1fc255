import { waitFor } from './client.ts';
import type { TourContext } from './execution.ts';
import { formatTimeSince } from './report.ts';
import { createWorkflow, PLAIN } from './workflow.ts';

/**
 * Previews an automation for a contact. Then starts an execution, and ends it by a purchase while it waits in a delay
 * of two days. Sends no email.
 */
export async function demonstratePreviewAndExit({ client, report, run, toDomain, from }: TourContext): Promise<void> {
  const template = {
    name: `Tour: Did you forget? ${run}`,
    subject: 'Did you forget something?',
    body: '<p>Your cart waits.</p>',
  };
  const { id: templateId } = await client.call('POST', '/templates', { ...template, type: 'TRANSACTIONAL', from });
  const workflowId = await createWorkflow(client, {
    name: `Tour ${run}, abandoned cart`,
    eventName: `${run}_cart`,
    steps: {
      'two days': { type: 'DELAY', config: { amount: 2, unit: 'days' }, to: { [PLAIN]: 'remind' } },
      remind: { type: 'SEND_EMAIL', config: { templateId }, to: { [PLAIN]: 'end' } },
      end: { type: 'EXIT', config: { reason: 'reminded' } },
    },
  });
  await client.call('PATCH', `/workflows/${workflowId}`, { exitOn: [{ eventName: `${run}_bought` }] });
  const email = `joan@${toDomain}`;
  const { id: contactId } = await client.call('POST', '/contacts', { email, subscribed: true });
  const preview = await client.call('POST', `/workflows/${workflowId}/preview`, { contactId });
  for (const { name, type, at, wouldSend, subject } of preview.steps) {
    report.line(`would reach ${name} (${type}) at ${at}${wouldSend ? ` and send "${subject}"` : ''}`);
  }
  report.check('emails in the preview', preview.steps.filter((s: { wouldSend: boolean }) => s.wouldSend).length, 1);
  await client.call('POST', '/v1/track', { email, event: `${run}_cart` });
  const execution = await waitFor('the delay', async () => {
    const { data } = await client.call('GET', `/workflows/${workflowId}/executions?contactId=${contactId}`);
    return data[0]?.status === 'WAITING' && data[0];
  });
  const startedAt = performance.now();
  await client.call('POST', '/v1/track', { email, event: `${run}_bought` });
  const ended = await waitFor('the end of the execution', async () => {
    const now = await client.call('GET', `/workflows/${workflowId}/executions/${execution.id}`);
    return now.completedAt && now;
  });
  report.line(`${email} buys: ${ended.status} after ${formatTimeSince(startedAt)}, exit reason ${ended.exitReason}`);
  report.check('ended by the purchase', ended.exitReason === 'exited_on_event' ? 1 : 0, 1);
}
