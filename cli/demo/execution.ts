import { type TourClient, waitFor } from './client.ts';
import { type DemoReport, formatTimeSince } from './report.ts';
import { createWorkflow, PLAIN, type StepPlan } from './workflow.ts';

/** State that the steps of a tour share. */
export interface TourContext {
  readonly client: TourClient;
  readonly report: DemoReport;
  /** A unique id of this tour. It is a part of event names, and contacts of the tour have it in their data. */
  readonly run: string;
  /** All emails of the tour go to addresses of this domain, which does not exist. */
  readonly toDomain: string;
  /** A sender on the project's verified domain. */
  readonly from: string;
}

/**
 * Starts an execution with an event. The execution visits steps of all seven types. A second event ends its
 * WAIT_FOR_EVENT.
 * @returns the number of emails that the execution sends, and whether the service refused to call the web server on
 * this machine
 */
export async function demonstrateExecution(
  tour: TourContext,
  hookUrl: string,
): Promise<{ emails: number; hookRefused: boolean }> {
  const { client, report, run, toDomain } = tour;
  const workflowId = await createSevenSteps(tour, hookUrl);
  report.line(
    'steps: SEND_EMAIL, DELAY 1 s, WAIT_FOR_EVENT, CONDITION, UPDATE_CONTACT, WEBHOOK, SEND_EMAIL, EXIT. The workflow is enabled.',
  );
  const email = `grace@${toDomain}`;
  const startedAt = performance.now();
  const event = { email, event: `${run}_signed_up`, data: { firstName: 'Grace' } };
  const { contact } = (await client.call('POST', '/v1/track', event)).data;
  const path = `/workflows/${workflowId}/executions`;
  const execution = await waitFor('the execution', async () => {
    const { data } = await client.call('GET', `${path}?contactId=${contact}`);
    return data[0];
  });
  const fetchExecution = () => client.call('GET', `${path}/${execution.id}`);
  await waitFor('the wait for an event', async () => (await isWaitingForEvent(await fetchExecution())) || undefined);
  report.line(`WAIT_FOR_EVENT reached after ${formatTimeSince(startedAt)}; tracking the purchase that it waits for`);
  await client.call('POST', '/v1/track', { email, event: `${run}_purchase`, data: { amount: 40 } });
  const ended = await waitFor('the end of the execution', async () => {
    const now = await fetchExecution();
    return now.completedAt ? now : undefined;
  });
  for (const step of ended.steps)
    report.line(`${step.type.padEnd(15)} ${step.status}${step.error ? `: ${step.error}` : ''}`);
  report.line(`${ended.status} after ${formatTimeSince(startedAt)}, exit reason ${ended.exitReason}`);
  const types = new Set(ended.steps.map((step: { type: string }) => step.type));
  report.check('types of step that the execution visited', types.size, 7);
  const { data } = await client.call('GET', `/contacts/${contact}`);
  report.check('updates of the contact (customer: true)', data.customer === true ? 1 : 0, 1);
  const hook = ended.steps.find((step: { type: string }) => step.type === 'WEBHOOK');
  return { emails: 2, hookRefused: String(hook?.error).includes('not a public address') };
}

async function createSevenSteps(tour: TourContext, hookUrl: string): Promise<string> {
  const { client, run } = tour;
  const [welcome, thanks] = [await saveTemplate(tour, 'Welcome'), await saveTemplate(tour, 'Thank you')];
  const steps: Record<string, StepPlan> = {
    welcome: { type: 'SEND_EMAIL', config: { templateId: welcome }, to: { [PLAIN]: 'pause' } },
    pause: { type: 'DELAY', config: { amount: 1, unit: 'seconds' }, to: { [PLAIN]: 'purchase' } },
    purchase: {
      type: 'WAIT_FOR_EVENT',
      config: { eventName: `${run}_purchase`, timeout: 60 },
      to: { event: 'signed up here', timeout: 'end' },
    },
    'signed up here': {
      type: 'CONDITION',
      config: { field: 'contact.data.firstName', operator: 'equals', value: 'Grace' },
      to: { yes: 'customer', no: 'end' },
    },
    customer: { type: 'UPDATE_CONTACT', config: { updates: { customer: true } }, to: { [PLAIN]: 'webhook' } },
    webhook: {
      type: 'WEBHOOK',
      config: { url: hookUrl, body: { run, email: '{{email}}' } },
      to: { [PLAIN]: 'thanks' },
    },
    thanks: { type: 'SEND_EMAIL', config: { templateId: thanks }, to: { [PLAIN]: 'end' } },
    end: { type: 'EXIT', config: { reason: 'tour_over' } },
  };
  return createWorkflow(client, { name: `Tour ${run}`, eventName: `${run}_signed_up`, steps });
}

async function saveTemplate({ client, from }: TourContext, greeting: string): Promise<string> {
  const subject = `${greeting}, {{firstName}}`;
  const template = {
    name: `Tour: ${greeting}`,
    subject,
    body: `<p>${greeting}, {{firstName}}.</p>`,
    type: 'TRANSACTIONAL',
    from,
  };
  return (await client.call('POST', '/templates', template)).id;
}

function isWaitingForEvent(execution: { steps: { type: string; completedAt: string | null }[] }): boolean {
  return execution.steps.some((step) => step.type === 'WAIT_FOR_EVENT' && step.completedAt === null);
}
