import { randomBytes } from 'node:crypto';
import { connect } from '../db/connection.ts';
import { countCapturedEmails } from '../db/sending/captured.ts';
import { demonstratePreviewAndExit } from './demo/automation-control.ts';
import { demonstrateCampaign, demonstrateImport, demonstrateSegment } from './demo/campaign.ts';
import {
  demonstrateLocalTime,
  demonstratePause,
  demonstrateRetry,
  demonstrateVariants,
} from './demo/campaign-control.ts';
import { createTourClient, waitFor } from './demo/client.ts';
import { demonstrateExecution, type TourContext } from './demo/execution.ts';
import { runTour } from './demo/process.ts';
import { startHookReceiver } from './demo/receiver.ts';
import { createReport, formatTimeSince } from './demo/report.ts';
import { capturesEmail, createMailboxHeaders, findOrStartService, printStartLine } from './demo/service.ts';
import type { DevFile } from './start/dev-file.ts';

// `npm run demo`: shows the main features, from a first email to an automation. Uses the running service, or starts and
// stops a separate service. At the end, compares the number of emails in the mailbox with the expected number. Exits
// with code 1 if a count is wrong.
const report = createReport();
await runTour(async (open) => {
  console.log('A tour of Tidings.');
  const service = await open(() => findOrStartService(process.env, printStartLine));
  await showTour(await service.dev, service.description);
  console.log(`\n${report.wrong === 0 ? 'Every count is right.' : `${report.wrong} counts are WRONG.`}`);
  return report.wrong === 0;
});

async function showTour(dev: DevFile, description: string): Promise<void> {
  console.log(`Service at ${dev.baseUrl} (${description}).`);
  // The tour must not run on a service that sends real email.
  if (!(await capturesEmail(dev)))
    throw new Error('The running service sends real email: the tour needs EMAIL_PROVIDER=capture.');
  const run = `tour${randomBytes(4).toString('hex')}`;
  const toDomain = `${run}.test`;
  const tour: TourContext = { client: createTourClient(dev), report, run, toDomain, from: `hello@${dev.domain}` };
  const receiver = await startHookReceiver();
  try {
    report.title('A first email');
    await demonstrateEmail(tour, dev);
    report.title('An event that drives an execution through all seven types of step');
    const execution = await demonstrateExecution(tour, receiver.url);
    report.title('Contacts from a CSV file');
    await demonstrateImport(tour);
    report.title('A segment');
    const segmentId = await demonstrateSegment(tour);
    report.title('A campaign to the segment');
    const campaignEmails = await demonstrateCampaign(tour, segmentId);
    report.title('A campaign that is paused and resumed');
    const pausedEmails = await demonstratePause(tour);
    report.title('Failed recipients, their reasons, and a retry');
    const retriedEmails = await demonstrateRetry(tour);
    report.title('Two subjects, and a winner');
    const variantEmails = await demonstrateVariants(tour);
    report.title("In each contact's local time");
    const ownHourEmails = await demonstrateLocalTime(tour);
    report.title('An automation that is previewed, and that a purchase ends');
    await demonstratePreviewAndExit(tour);
    report.title('Arrived emails');
    const controlled = pausedEmails + retriedEmails + variantEmails + ownHourEmails;
    await checkArrivedEmails(dev, toDomain, 1 + execution.emails + campaignEmails + controlled);
    if (execution.hookRefused) {
      report.line(
        'The WEBHOOK step was refused: this service calls public addresses only. WEBHOOK_ALLOW_PRIVATE=true allows it.',
      );
    } else report.check('calls of the WEBHOOK step', receiver.received.length, 1);
    report.line(
      description.startsWith('running')
        ? `See ${dev.mailboxUrl}, Temporal at ${dev.temporal.ui}`
        : 'The service stops now.',
    );
  } finally {
    receiver.close();
  }
}

async function demonstrateEmail({ client, toDomain, from }: TourContext, dev: DevFile): Promise<void> {
  const to = `ada@${toDomain}`;
  const startedAt = performance.now();
  await client.call('POST', '/v1/send', {
    to,
    from,
    subject: 'Hello {{name}}',
    body: '<p>Hello {{name}}, this is a first email.</p>',
    data: { name: 'Ada' },
  });
  report.line(`POST /v1/send accepted the email in ${formatTimeSince(startedAt)}`);
  const headers = await createMailboxHeaders(dev);
  const email = await waitFor('the first email', async () => {
    const response = await fetch(`${dev.mailboxUrl}.json?to=${encodeURIComponent(to)}`, { headers });
    const { data } = (await response.json()) as { data: { subject: string; from: string }[] };
    return data[0];
  });
  report.line(`in the mailbox after ${formatTimeSince(startedAt)}: "${email.subject}" from ${email.from}`);
}

async function checkArrivedEmails({ databaseUrl }: DevFile, toDomain: string, expected: number): Promise<void> {
  const { db } = connect({ connectionString: databaseUrl, max: 1, applicationName: 'tidings-demo', onError: () => {} });
  try {
    const { emails } = await countCapturedEmails(db, { toDomain });
    report.check('emails in the mailbox', emails, expected);
  } finally {
    await db.destroy();
  }
}
