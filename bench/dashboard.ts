import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { createSignInLink } from '../cli/start/sign-in-link.ts';
import { connect } from '../db/connection.ts';
import { parseSettings } from '../rules/config.ts';
import { findChromium, launchChromium } from '../test/support/browser/chromium.ts';
import { startSinkProcess } from '../test/support/smtp/sink-process.ts';
import { createHomePath, removeHome, type StartedService, startService } from '../test/support/start.ts';
import { type SendCost, sendCampaign, toTableColumns, watchCampaign } from './dashboard/campaigns.ts';
import { createAutomation, measureCanvas } from './dashboard/canvas.ts';
import { measureContactList } from './dashboard/contacts.ts';
import { type BrowserSession, openWindow, type PageWait, toTableRow } from './dashboard/window.ts';
import { createApiClient } from './load/api-client.ts';
import { insertContacts } from './load/projects.ts';

/**
 * Measures waiting times in the dashboard, in a browser on the machine of the service, without a graphics card.
 * Measures the first screen after the link that `npm start` prints, a campaign that is being sent, a long list of
 * contacts, the canvas of a long automation, and the API reference. The baseline is the same campaign while no browser
 * shows it.
 */
const { values } = parseArgs({
  options: {
    contacts: { type: 'string', default: '1000000' },
    recipients: { type: 'string', default: '100000' },
    steps: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '5' },
    workers: { type: 'string', default: '2' },
    // The screens to measure besides the first one.
    parts: { type: 'string', default: 'reference,campaign,contacts,canvas' },
  },
});
const [contacts, recipients, rounds] = [Number(values.contacts), Number(values.recipients), Number(values.rounds)];

const parts = new Set(values.parts.split(','));
const before = readLoad();

const chromium = await findChromium();
if (typeof chromium === 'string') throw new Error(chromium);
const browser = await launchChromium(chromium);
const home = createHomePath();
const sink = await startSinkProcess(['--no-record']);
let service: StartedService | undefined;
try {
  const env = { WORKERS: values.workers, EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url, RATE_LIMIT_PER_MINUTE: '0' };
  service = await startService({ home, env: { ...env, DKIM_SIGN: 'off', LOG_LEVEL: 'warn' } });
  const facts = service.dev();
  const { baseUrl, databaseUrl, domain, projectId, secretKey } = facts;
  const { db } = connect({ connectionString: databaseUrl, max: 2, applicationName: 'bench', onError: () => {} });
  const client = createApiClient({ baseUrl, key: secretKey });

  const first = await measureFirstScreen('home by the link, a new service');
  const rows = [first.row];
  const { session } = first;
  if (parts.has('reference')) rows.push(...(await measureReference()));
  if (parts.has('campaign')) {
    await insertContacts(db, { projectId, count: recipients, localPart: 'r' });
    console.table(await measureCampaign(session));
    rows.push((await measureFirstScreen(`home by the link, after ${5 * recipients} emails`)).row);
  }
  if (parts.has('contacts')) {
    const missing = contacts - (parts.has('campaign') ? recipients : 0);
    await insertContacts(db, { projectId, count: missing, localPart: 'm' });
    rows.push(...(await measureContactList(await openWindow(browser, session), { baseUrl, total: contacts, rounds })));
  }
  console.table(rows);
  if (parts.has('canvas')) {
    const { page } = await openWindow(browser, session);
    await page.goto(`${baseUrl}/app/automations/${await createAutomation(client, Number(values.steps))}`);
    await page.locator('.react-flow__node-step').first().waitFor();
    console.table(await measureCanvas(page));
  }
  console.log(`Load of the machine: ${before} before, ${readLoad()} after.`);
  await Promise.all([client.close(), db.destroy()]);

  /** Measures the campaign with and without a browser that shows it, in turn, and keeps the best result of each. */
  async function measureCampaign(session: BrowserSession) {
    const [by, send] = [
      { client, db, pids: facts.pids },
      { domain, recipients },
    ];
    const alone: SendCost[] = [await sendCampaign(by, send)];
    const seen: SendCost[] = [];
    let watched: Awaited<ReturnType<typeof watchCampaign>> | undefined;
    for (let round = 0; round < 2; round += 1) {
      const look = async (id: string) => {
        watched = await watchCampaign(await openWindow(browser, session), `${baseUrl}/app/campaigns/${id}`);
      };
      seen.push(await sendCampaign(by, send, look));
      alone.push(await sendCampaign(by, send));
    }
    return [
      { campaign: `${recipients} recipients, watched`, ...toTableColumns(seen), ...watched },
      { campaign: 'the same, no browser', ...toTableColumns(alone) },
    ];
  }

  /** Opens the first screen several times, each time with a new link in a browser without cache and cookies. */
  async function measureFirstScreen(what: string) {
    const settings = parseSettings({ PUBLIC_URL: baseUrl });
    const waits: PageWait[] = [];
    for (let round = 0; ; round += 1) {
      const link = await createSignInLink({ ...facts, settings, publicUrl: baseUrl, databaseUrl });
      const { page, context, wait } = await openWindow(browser);
      waits.push(
        await wait(async () => {
          await page.goto(link ?? '', { waitUntil: 'commit' });
          await page.getByRole('heading', { name: 'The last 30 days', exact: true }).waitFor();
          await page.getByText('Delivered', { exact: true }).first().waitFor();
        }),
      );
      const session = await context.storageState();
      await context.close();
      if (round === rounds) return { session, row: toTableRow(what, waits.slice(1)) };
    }
  }

  async function measureReference() {
    const [opened, operation]: [PageWait[], PageWait[]] = [[], []];
    for (let round = 0; round <= rounds; round += 1) {
      const { page, context, wait } = await openWindow(browser);
      opened.push(
        await wait(async () => {
          await page.goto(`${baseUrl}/docs`, { waitUntil: 'commit' });
          await page.locator('.opblock-tag').first().waitFor();
        }),
      );
      await page.locator('.opblock-tag', { hasText: 'Workflows' }).first().click();
      operation.push(
        await wait(async () => {
          await page.locator('.opblock-summary').first().click();
          await page.locator('.opblock-body .responses-table').first().waitFor();
        }),
      );
      await context.close();
    }
    return [toTableRow('API reference', opened.slice(1)), toTableRow('one operation of it', operation.slice(1))];
  }
} finally {
  await browser.close();
  service?.signal('SIGTERM');
  await service?.exited;
  await sink.stop();
  await removeHome(home);
}

/** Returns the load of the last minute, because other work on the machine makes everything slower. */
function readLoad(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
