import { randomBytes } from 'node:crypto';
import type { ChannelTourContext } from './demo/channel-tour.ts';
import { createTourClient } from './demo/client.ts';
import { startListenerProcess } from './demo/listeners.ts';
import { type LoopResult, printSummary, runLoops } from './demo/loop.ts';
import { AUTOMATION_LOOP } from './demo/loop-automation.ts';
import { EMAIL_LOOPS } from './demo/loops-email.ts';
import { PROVIDER_LOOPS, type ProviderTourContext } from './demo/loops-provider.ts';
import { type DemoMailbox, openCapturedMailbox } from './demo/mailbox.ts';
import { type Open, runTour } from './demo/process.ts';
import { startProviders } from './demo/providers.ts';
import { createReport } from './demo/report.ts';
import {
  capturesEmail,
  describeRunningService,
  findRunningService,
  printStartLine,
  startOwnService,
} from './demo/service.ts';
import type { DevFile } from './start/dev-file.ts';
import { findFreePort } from './start/ports.ts';

// `npm run demo:channels`: shows the feedback of every channel. It runs "loops": each loop sends a message, sends real
// feedback about it to the service over a socket, and prints the resulting records. If a service is running and
// captures its email, the loops that need no servers of the demo use this service. For all other loops, the demo starts
// and stops a separate service. Exits with code 1 if the service did not record the feedback of a loop.
const report = createReport();
await runTour(async (open) => {
  console.log('The feedback loop of every channel: a message is sent, feedback comes back, and the record shows it.');
  const running = await findRunningService(process.env);
  const results: LoopResult[] = [];
  if (running && (await capturesEmail(running))) {
    results.push(...(await runOnRunningService(open, running)));
    report.heading(
      'The other loops need workers that send to servers on this machine: a second service is started for them.',
    );
    results.push(...(await runLoops(await openOwnService(open), PROVIDER_LOOPS)));
  } else {
    if (running) console.log(`${running.baseUrl} sends real email, so the tour does not use it.`);
    results.push(...(await runLoops(await openOwnService(open), [...EMAIL_LOOPS, AUTOMATION_LOOP, ...PROVIDER_LOOPS])));
  }
  return printSummary(report, results);
});

/** Runs the loops that need no servers of the demo, on a running service that captures its email. */
async function runOnRunningService(open: Open, dev: DevFile): Promise<LoopResult[]> {
  console.log(`Service at ${dev.baseUrl} (${describeRunningService(process.env)}).`);
  const writeLine = (line: string) => report.line(line);
  const listeners = await open(() => startListenerProcess({ env: process.env, dev, writeLine }));
  const { inboundPort, relayPort } = listeners;
  report.line(
    `Another API process accepts returned email on port ${inboundPort}, and email to relay on port ${relayPort}.`,
  );
  report.line('To keep them: `INBOUND_SMTP_PORT=2526 SMTP_RELAY_PORT=2525 npm start`.');
  const mailbox = await open(() => openCapturedMailbox(dev.databaseUrl));
  const results = await runLoops(createChannelTourContext(dev, { mailbox, inboundPort, relayPort }), [
    ...EMAIL_LOOPS,
    AUTOMATION_LOOP,
  ]);
  report.line(`See ${[dev.mailboxUrl, dev.temporal.ui].filter(Boolean).join(', ')}`);
  return results;
}

/** Starts a service that sends its email, SMS and webhooks to servers of this demo. */
async function openOwnService(open: Open): Promise<ProviderTourContext> {
  const providers = await open(startProviders);
  const [inboundPort, relayPort] = [await findFreePort(), await findFreePort()];
  const listeners = { INBOUND_SMTP_PORT: String(inboundPort), SMTP_RELAY_PORT: String(relayPort) };
  const settings = { ...listeners, ...providers.settings };
  const service = await open(() => startOwnService({ env: process.env, settings, writeLine: printStartLine }));
  const dev = await service.dev;
  console.log(`Service at ${dev.baseUrl} (${service.description}), with these settings:`);
  // No secrets are printed, not even secrets that are valid only during the tour.
  for (const [name, value] of Object.entries(settings)) report.line(`${name}=${/TOKEN/.test(name) ? '…' : value}`);
  const tour = createChannelTourContext(dev, { mailbox: providers.mailbox, inboundPort, relayPort });
  return { ...tour, baseUrl: dev.baseUrl, providers };
}

function createChannelTourContext(
  dev: DevFile,
  channels: { mailbox: DemoMailbox; inboundPort: number; relayPort: number },
): ChannelTourContext {
  const run = `loops${randomBytes(4).toString('hex')}`;
  const names = { run, toDomain: `${run}.test`, from: `hello@${dev.domain}` };
  return { client: createTourClient(dev), report, ...names, secretKey: dev.secretKey, ...channels };
}
