import { continueAsNew, proxyActivities, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { DeliveryActivities, SendMailsResult, WaitingMail } from '../activities/deliveries.ts';
import { DELIVERY_EXPIRES_MS } from '../domain/retry-schedule.ts';

/**
 * A group leaves within seconds, a throttled one gives its place back. The heartbeat tells of a dead worker; trying again for ever is
 * safe because each mail is claimed and settled by its row, and right because the mails were accepted.
 */
const { sendMails } = proxyActivities<DeliveryActivities>({
  taskQueue: 'transactional',
  allowEagerDispatch: false,
  startToCloseTimeout: '15 minutes',
  heartbeatTimeout: '15 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** Mails due within this of the first are sent with it: one activity for what was put off together. */
const TOGETHER_MS = 5_000;

export interface EmailDeliveryInput {
  projectId: string;
  emailIds: string[];
  /** Carried on when it continues as new. */
  carried?: { waiting: WaitingMail[]; expiresAt: string; sent: number; other: number };
}

/**
 * Delivers a group of single mails: an activity sends them, what the provider refused for now waits by a timer and is tried again until it
 * is sent or has expired. Which mails wait, and until when, is in the current details.
 */
export async function emailDelivery(input: EmailDeliveryInput): Promise<string> {
  const carried = input.carried ?? firstState(input.emailIds);
  let { waiting, sent, other } = carried;
  while (waiting.length > 0) {
    const due = await nextDue(waiting);
    setCurrentDetails(`Sending ${due.length} of ${waiting.length} mails`);
    const result = await send(input.projectId, due, carried.expiresAt);
    const left = waiting.filter((mail) => !due.includes(mail));
    waiting = [...left, ...result.waiting];
    sent += result.sent;
    other += result.other;
    if (waiting.length > 0 && workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof emailDelivery>({ ...input, carried: { ...carried, waiting, sent, other } });
    }
  }
  const story = `${sent} sent${other > 0 ? `, ${other} not sent (see their reasons)` : ''}`;
  setCurrentDetails(story);
  return story;
}

function firstState(emailIds: string[]): NonNullable<EmailDeliveryInput['carried']> {
  const now = Date.now();
  const dueAt = new Date(now).toISOString();
  return {
    waiting: emailIds.map((id) => ({ id, dueAt, paid: false })),
    expiresAt: new Date(now + DELIVERY_EXPIRES_MS).toISOString(),
    sent: 0,
    other: 0,
  };
}

/** Waits for the first mail that is due, and returns it with those that are due about then. */
async function nextDue(waiting: WaitingMail[]): Promise<WaitingMail[]> {
  const first = Math.min(...waiting.map((mail) => Date.parse(mail.dueAt)));
  const waitMs = first - Date.now();
  if (waitMs > 0) {
    const at = new Date(first).toISOString();
    setCurrentDetails(`${waiting.length} mails wait, the first until ${at}`);
    await sleep(waitMs, { summary: `${waiting.length} mails wait for their next try` });
  }
  const until = Math.max(first, Date.now()) + (waitMs > 0 ? TOGETHER_MS : 0);
  return waiting.filter((mail) => Date.parse(mail.dueAt) <= until);
}

function send(projectId: string, due: WaitingMail[], expiresAt: string): Promise<SendMailsResult> {
  const mails = due.map(({ id, paid }) => ({ id, paid }));
  return sendMails.executeWithOptions({ summary: `${mails.length} mails` }, [{ projectId, mails, expiresAt }]);
}
