import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { type ApiClient, createApiClient } from '../load/api-client.ts';
import { createProject, createTemplate, createWorkflow, insertContacts, type LoadProject } from '../load/projects.ts';
import { sendCampaign } from './campaigns.ts';
import { trackUncertainMessages } from './doubt.ts';
import { waitUntilDrained } from './drain.ts';
import { type FaultCounts, startFaults } from './faults.ts';
import { startLoad } from './load.ts';
import { createSeededRandom } from './random.ts';
import { type SoakStage, startSoakServers } from './stage.ts';
import { checkResults, type SoakVerdict } from './verdict.ts';

/**
 * The send rates, in emails per second. `SLOW_PER_SECOND` is the rate of the project `slow`, which sends single emails.
 * `CAMPAIGN_PER_SECOND` is the rate of the project with the campaigns. The rates are low, so that failures happen while
 * emails are being sent.
 */
const SLOW_PER_SECOND = 5;
const CAMPAIGN_PER_SECOND = 40;
/** A campaign has as many recipients as it can send at its rate in this share of the run. */
const CAMPAIGN_SHARE = 0.3;
/** Time for workers to start and connections to open. */
const HEAD_START_MS = 5_000;

/**
 * Sends load and causes failures for `--minutes`. Then ends the load and the failures, waits until the accepted work
 * has ended, and checks that the result of every request arrived. The exit code is 1 if anything was lost, is stuck, or
 * was sent twice without a failure that explains it.
 */
export async function runSoak(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
      scale: { type: 'string', default: '1' },
      'drain-minutes': { type: 'string', default: '10' },
      faults: { type: 'boolean', default: true },
    },
    allowNegative: true,
  });
  const seconds = Number(values.minutes) * 60;
  console.log(
    `Soak of ${values.minutes} minutes with seed ${values.seed} (again: npm run soak -- --seed ${values.seed})`,
  );
  const late: { stage?: SoakStage } = {};
  const doubt = trackUncertainMessages(
    () => late.stage ?? ({ sink: { messages: [] }, twilio: { requests: [] } } as never),
  );
  const stage = await startSoakServers({ workers: 2, inDoubt: doubt.recordLostReply });
  late.stage = stage;
  closeOnSignal(stage);
  try {
    const { shop, slow, news } = await createProjects(
      stage,
      Math.round(seconds * CAMPAIGN_SHARE * CAMPAIGN_PER_SECOND),
    );
    await sleep(HEAD_START_MS);
    const random = createSeededRandom(Number(values.seed));
    const load = startLoad({
      baseUrl: stage.baseUrl,
      shop,
      slow,
      random: createSeededRandom(Number(values.seed) + 1),
      scale: Number(values.scale),
    });
    const faults = values.faults ? startFaults(stage, random, () => doubt.recordKill(stage.db)) : undefined;
    const client = createApiClient({ baseUrl: stage.baseUrl, key: news.secretKey, timeoutMs: 10_000 });
    const campaigns = Promise.all(
      [0.05, 0.5].map(async (share, n) => {
        await sleep(seconds * share * 1_000);
        return sendCampaign(client, news.domain, `campaign ${n + 1}`);
      }),
    );
    await reportProgress(stage, seconds);
    await load.stop();
    await faults?.stop();
    const ids = await campaigns;
    console.log('Load and failures have ended; waiting for accepted work …');
    const startedAt = performance.now();
    const left = await waitUntilDrained(stage.db, load.countOpen, Number(values['drain-minutes']) * 60);
    console.log(`… ${Math.round((performance.now() - startedAt) / 1_000)} s`);
    await Promise.all([load.close(), client.close()]);
    for (const n of stage.hungUp) doubt.recordHangUp(stage.twilio.requests[n]?.params ?? {});
    const verdict = await checkResults(stage, load.requests, ids, doubt);
    return printVerdict(verdict, { left, counts: faults?.counts ?? new Map(), stage, seed: values.seed });
  } finally {
    await stage.close();
  }
}

/** Ends all processes when the run is interrupted. */
function closeOnSignal(stage: SoakStage): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      console.log('The run was ended early, so its results are not checked.');
      void stage.close().finally(() => process.exit(1));
    });
}

/** Creates three projects: one for single messages and an automation, one with a low send rate, one for campaigns. */
async function createProjects(stage: SoakStage, recipients: number) {
  const { db, baseUrl, receiver } = stage;
  const createTenant = async (name: string, perSecond: number | null): Promise<[LoadProject, ApiClient]> => {
    const project = await createProject(db, name);
    await sql`UPDATE projects SET send_rate_per_second = ${perSecond} WHERE id = ${project.id}`.execute(db);
    return [project, createApiClient({ baseUrl, key: project.secretKey })];
  };
  const [[shop, client], [slow], [news]] = [
    await createTenant('shop', null),
    await createTenant('slow', SLOW_PER_SECOND),
    await createTenant('news', CAMPAIGN_PER_SECOND),
  ];
  await sql`INSERT INTO sms_senders (project_id, country, from_phone) VALUES (${shop.id}, null, '+15005550006')`.execute(
    db,
  );
  await insertContacts(db, { projectId: news.id, count: recipients, localPart: 'news' });
  const templateId = await createTemplate(client, shop.domain);
  await createWorkflow(client, 'soak-start', [
    ['UPDATE_CONTACT', { updates: { seen: true } }],
    ['DELAY', { amount: 3, unit: 'seconds' }],
    ['WAIT_FOR_EVENT', { eventName: 'soak-go', timeout: 10 }],
    ['WEBHOOK', { url: `${receiver.url}/step` }],
    ['SEND_EMAIL', { templateId }],
    ['EXIT', { reason: 'done' }],
  ]);
  await client.callOk('POST', '/webhooks', { url: `${receiver.url}/registry`, events: ['soak-start'] });
  await client.close();
  return { shop, slow, news };
}

async function reportProgress({ sink, twilio }: SoakStage, seconds: number): Promise<void> {
  const endsAt = performance.now() + seconds * 1_000;
  while (performance.now() < endsAt) {
    await sleep(Math.min(30_000, Math.max(0, endsAt - performance.now())));
    const left = Math.max(0, Math.round((endsAt - performance.now()) / 1_000));
    console.log(`  ${left} s left: ${sink.messages.length} emails and ${twilio.requests.length} SMS have arrived`);
  }
}

function printVerdict(
  { lines, problems }: SoakVerdict,
  p: { left: Record<string, number>; counts: FaultCounts; stage: SoakStage; seed: string },
): number {
  console.log('\nFailures');
  console.table([...p.counts].sort().map(([fault, times]) => ({ fault, times })));
  console.log(
    `The responses to ${p.stage.commits.countFailures()} COMMITs and ${p.stage.replies.countFailures()} emails were dropped.`,
  );
  console.table(lines);
  const stuck = Object.entries(p.left).filter(([, count]) => count > 0);
  const deaths = [p.stage.api, ...p.stage.workers].flatMap(({ name, deaths: of }) =>
    of.map((last) => `${name}: ${last}`),
  );
  for (const death of deaths) console.log(`A process ended unexpectedly: ${death}`);
  const all = [...stuck.map(([what, count]) => `left over: ${count} ${what}`), ...problems];
  for (const problem of all) console.log(`ERROR: ${problem}`);
  console.log(all.length === 0 ? `Everything arrived (seed ${p.seed}).` : `Seed ${p.seed}.`);
  return all.length === 0 ? 0 : 1;
}
