import { type ChannelTourContext, EMAIL_BODY } from './channel-tour.ts';
import { waitFor } from './client.ts';
import type { Loop } from './loop.ts';
import { followLink } from './loops-email.ts';
import { assertRecord, printContent, RECORD_TIMEOUT_MS } from './record.ts';
import { createWorkflow, PLAIN } from './workflow.ts';

/** The time limit of the step WAIT_FOR_EVENT. It is longer than the tour, so that only the click can end the wait. */
const WAIT_SECONDS = 3_600;

/**
 * The loop for feedback that continues an automation. The automation sends an email and waits, and a click in that
 * email ends the wait.
 */
export const AUTOMATION_LOOP: Loop<ChannelTourContext> = {
  title: 'An automation that waits for the click',
  close: closeAutomationLoop,
};

async function closeAutomationLoop(tour: ChannelTourContext): Promise<string> {
  const { client, report, run, toDomain, mailbox } = tour;
  const to = `waiting@${toDomain}`;
  const workflowId = await createOffer(tour);
  const { contact } = (await client.call('POST', '/v1/track', { email: to, event: `${run}_interested` })).data;
  const { id } = await waitForExecution(tour, { workflowId, status: 'WAITING' });
  report.line(`execution ${id} has sent its email to ${to}, and is WAITING for email.click`);
  await followLink(tour, await waitFor(`the email to ${to}`, () => mailbox.find(to), RECORD_TIMEOUT_MS));
  const { status, exitReason, steps } = await waitForExecution(tour, { workflowId, status: 'EXITED' });
  for (const { type, status: stepStatus, output } of steps)
    printContent(tour, 'step', { status: stepStatus, output }, type);
  printContent(tour, 'execution', { id, status, exitReason });
  const { data } = await client.call('GET', `/contacts/${contact}`);
  printContent(tour, 'contact', { email: to, data });
  return assertRecord(
    { status: 'EXITED', exitReason: 'clicked', interest: 'offer' },
    { status, exitReason, interest: data.interest },
  );
}

/**
 * Waits until the only execution of a workflow has the given status.
 * @returns the execution with its steps
 */
function waitForExecution({ client, report }: ChannelTourContext, p: { workflowId: string; status: string }) {
  const path = `/workflows/${p.workflowId}/executions`;
  const find = async () => {
    const [execution] = (await client.call('GET', path)).data;
    if (execution?.status === p.status) return client.call('GET', `${path}/${execution.id}`);
    report.progress(`the execution is ${execution?.status ?? 'not started yet'} …`);
    return undefined;
  };
  return waitFor(`an execution that is ${p.status}`, find, RECORD_TIMEOUT_MS);
}

async function createOffer({ client, run, from }: ChannelTourContext): Promise<string> {
  const subject = 'An offer by automation';
  const template = { name: `Offer ${run}`, subject, body: EMAIL_BODY, type: 'TRANSACTIONAL', from };
  const { id: templateId } = await client.call('POST', '/templates', template);
  return createWorkflow(client, {
    name: `Offer ${run}`,
    eventName: `${run}_interested`,
    steps: {
      offer: { type: 'SEND_EMAIL', config: { templateId }, to: { [PLAIN]: 'click' } },
      click: {
        type: 'WAIT_FOR_EVENT',
        config: { eventName: 'email.click', timeout: WAIT_SECONDS },
        to: { event: 'note', timeout: 'late' },
      },
      note: { type: 'UPDATE_CONTACT', config: { updates: { interest: 'offer' } }, to: { [PLAIN]: 'end' } },
      end: { type: 'EXIT', config: { reason: 'clicked' } },
      late: { type: 'EXIT', config: { reason: 'no_click' } },
    },
  });
}
