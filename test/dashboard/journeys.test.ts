import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Db } from '../../db/connection.ts';
import { createCampaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { buildProject } from '../support/api.ts';
import {
  chooseMenuAction,
  chooseOption,
  describeInBrowser,
  openDashboard,
  type Page,
} from '../support/browser/browser.ts';
import { runDemo } from '../support/demo.ts';
import { callHttp } from '../support/http.ts';
import { createHomePath, readSignInLink, removeHome, type StartedService, startService } from '../support/start.ts';
import { until } from '../support/until.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

/**
 * A marketer, a developer and an operator use a real `npm start`: the first test with an empty project, the others with
 * the data of the demo. The users have a goal and do not know Tidings. They open the link or address that the start
 * prints, and follow the screens.
 */
describeInBrowser('on a fresh npm start', () => {
  const home = createHomePath();
  let started: StartedService;
  let service: { baseUrl: string; db: Db };

  beforeAll(async () => {
    started = await startService({ home, env: { WEBHOOK_ALLOW_PRIVATE: 'true' } });
    const { baseUrl, databaseUrl } = started.dev();
    const { db } = connect({ connectionString: databaseUrl, max: 2, applicationName: 'test', onError: () => {} });
    service = { baseUrl, db };
  });
  afterAll(async () => {
    await service?.db.destroy();
    started?.signal('SIGTERM');
    await started?.exited;
    await removeHome(home);
  });

  const openSignedOut = () => openDashboard({ service, as: null, mayFail: [/response: 401 to GET \/auth\/me/] });
  /** Opens the address that the start prints, and signs in with the owner's password from dev.json. */
  const signIn = async (page: Page) => {
    const { baseUrl, owner } = started.dev();
    await page.goto(baseUrl);
    await page.getByLabel('Email').fill(owner.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(owner.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'The last 30 days' }).waitFor();
  };
  const readMailbox = async (to: string): Promise<{ subject: string; html: string }[]> =>
    (await callHttp(service.baseUrl, 'GET', `/mailbox.json?to=${encodeURIComponent(to)}`)).body.data;

  it('a marketer imports contacts, writes to some of them, finds who did not get the email and why, and corrects the cause', async () => {
    const { page } = await openSignedOut();
    await page.goto(await readSignInLink(started));
    await page.getByRole('link', { name: 'Add a contact' }).click();
    await findButton(page, 'Import').first().click();
    const rows = [
      'ada@tea.test,Ada,pro',
      'bo@tea.test,Bo,pro',
      'cleo@tea.test,Cleo,pro',
      'dan@tea.test,Dan,free',
      'x,,',
    ];
    await chooseFile(page, 'Choose file', `Email,First name,plan\n${rows.join('\n')}\n`);
    await page.getByText('Must be an email address such as ada@example.com.').waitFor();
    await findButton(page, 'Import 4 contacts').click();
    await page.getByText('COMPLETED').waitFor();
    await page.getByText('4 created').waitFor();
    await page.getByRole('link', { name: 'Create segment' }).click();

    await page.getByLabel('Name').fill('On pro');
    await fillPlanFilter(page, 'pro');
    await page.getByText('3 contacts', { exact: true }).waitFor();
    await findButton(page, 'Create segment').click();
    await page.getByRole('heading', { level: 1, name: 'On pro' }).waitFor();

    await openFromMenu(page, 'Templates');
    await findButton(page, 'Create template').first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Autumn teas');
    await dialog.getByRole('radio', { name: 'Marketing' }).check();
    await dialog.getByRole('radio', { name: 'Newsletter' }).check();
    await findButton(dialog, 'Create template').click();
    await page.getByLabel('Subject').fill('Autumn teas for {{firstName}}');
    await page.frameLocator('iframe[title="Email, editable in place"]').getByText('What is new').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' this autumn');
    await findButton(page, 'Save').click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('link', { name: 'Back to templates' }).click();

    await setMonthlyLimit(page, '2');
    await openFromMenu(page, 'Campaigns');
    await findButton(page, 'Create campaign').first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Autumn');
    await page.getByRole('radio', { name: 'Autumn teas' }).check();
    await findButton(page, 'Create draft').click();
    await findButton(page, 'Continue to audience').click();
    await page.getByRole('radio', { name: 'Segment' }).check();
    await chooseOption(page, 'Segment', /^On pro/);
    await findButton(page, 'Continue to review').click();
    await page.getByText('2 of 3 contacts will receive this').waitFor();
    await findButton(page, 'Continue to schedule').click();
    await findButton(page, 'Send to 2 contacts now').click();

    await page.locator('.status').getByText('Sent', { exact: true }).first().waitFor();
    const reasonRow = page.getByRole('row', { name: /limit reached/i });
    await reasonRow.getByText('Limit reached').hover();
    await page.getByRole('tooltip').getByText('The monthly email limit was reached.').waitFor();
    await reasonRow.getByRole('link', { name: '1' }).click();
    const left = await page.getByRole('link', { name: /@tea\.test$/ }).textContent();
    expect(await readMailbox(`${left}`)).toEqual([]);
    await page.getByRole('link', { name: 'Report', exact: true }).click();
    await page.getByRole('link', { name: 'Fix in Settings' }).click();
    await fillLimit(page, '');
    await openFromMenu(page, 'Campaigns');
    await page.getByRole('link', { name: 'Autumn', exact: true }).click();
    await findButton(page, 'Retry 1 email').click();
    await page.getByText('1 contact will be retried.').waitFor();
    await page.getByText('Sent to the whole audience.').waitFor();
    const [email] = await readMailbox(`${left}`);
    expect(email).toMatchObject({
      subject: expect.stringMatching(/^Autumn teas for (Ada|Bo|Cleo)$/),
      html: expect.stringContaining('What is new this autumn'),
    });
  });

  describe("with the demo's data", () => {
    beforeAll(async () => {
      const { code, output } = await runDemo('demo', { home });
      expect(code, output).toBe(0);
    });

    it('a marketer finds the campaign with two subjects, and how its winner was chosen', async () => {
      const { page } = await openSignedOut();
      await signIn(page);
      await openFromMenu(page, 'Campaigns');
      await page.getByRole('textbox', { name: 'Search' }).fill('A/B');
      await page.getByRole('link', { name: /A\/B$/ }).click();
      await page.getByRole('heading', { level: 1, name: /A\/B$/ }).waitFor();
      await page.getByText('Winner, chosen manually').waitFor();
    });

    it('a marketer draws an automation, previews the path of a contact, and watches the run', async () => {
      const { page } = await openSignedOut();
      await signIn(page);
      await openFromMenu(page, 'Contacts');
      await findButton(page, 'Add contact').first().click();
      await page.getByRole('textbox', { name: 'Email' }).fill('eve@tea.test');
      await findButton(page, 'Add').click();
      await page.getByRole('heading', { level: 1, name: 'eve@tea.test' }).waitFor();
      await findButton(page, 'Add field').click();
      await page.getByRole('textbox', { name: 'Name' }).fill('plan');
      await page.getByRole('textbox', { name: 'Value' }).fill('pro');
      await findButton(page, 'Save').click();
      await page.getByText('plan added.').waitFor();

      await openFromMenu(page, 'Templates');
      await findButton(page, 'Create template').first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Thanks');
      await findButton(dialog, 'Create template').click();
      await page.getByLabel('Subject').fill('Thank you');
      await findButton(page, 'Save').click();
      await page.getByText('Saved.').waitFor();
      await page.getByRole('link', { name: 'Back to templates' }).click();

      await openFromMenu(page, 'Automations');
      await findButton(page, 'Create automation').first().click();
      await page.getByRole('radio', { name: /From scratch/ }).check();
      await page.getByRole('textbox', { name: 'Name' }).fill('After the upgrade');
      await page.getByRole('textbox', { name: 'Trigger event' }).fill('upgraded');
      await findButton(dialog, 'Create automation').click();
      await addStep(page, 'Add the first step', 'Send email');
      await chooseOption(page, 'Template', /Thanks/);
      await addStep(page, 'Add a step after Send email', 'Delay');
      await addStep(page, 'Add a step after Delay', 'If/else');
      await fillPlanFilter(page, 'pro');
      await addStep(page, 'Add a step after If/else, branch yes', 'Exit');
      await findStep(page, 'If/else').click();
      await chooseOption(page, 'Next step of branch no', 'Exit');
      await findButton(page, 'Save').click();
      await page.getByText('Saved', { exact: true }).waitFor();

      await findButton(page, 'Test').click();
      await page.getByRole('textbox', { name: 'Contact' }).fill('eve');
      await page.getByRole('option', { name: 'eve@tea.test' }).click();
      await findButton(page, 'Show path').click();
      await page.getByText('sends to eve@tea.test').waitFor();
      await page.getByText('yes', { exact: true }).first().waitFor();
      await findButton(page, 'Clear path').click();
      await findButton(page, 'Enable').click();
      await page.getByText('Enabled', { exact: true }).waitFor();

      await page.getByRole('link', { name: 'Back to automations' }).click();
      await openFromMenu(page, 'Events');
      await findButton(page, 'Send test event').click();
      await dialog.getByRole('textbox', { name: 'Event', exact: true }).fill('upgraded');
      await chooseOption(page, 'Contact', 'eve@tea.test');
      await findButton(dialog, 'Record event').click();
      await openFromMenu(page, 'Automations');
      await page.getByRole('link', { name: 'After the upgrade' }).click();
      await findStep(page, 'Delay').getByText('1 waiting').click();
      await page.getByRole('link', { name: 'eve@tea.test' }).waitFor();
      await findButton(page, 'Continue now').click();
      await page.getByText('No contacts at this step.').waitFor();
      await findStep(page, 'Exit').getByRole('link', { name: '1 done' }).waitFor();
      await page.getByText('yes 100%').waitFor();
      await page.getByRole('link', { name: '100%' }).click();
      await page.getByText('Only contacts that took branch yes.').waitFor();
      await page.getByRole('link', { name: 'eve@tea.test' }).waitFor();
      expect((await readMailbox('eve@tea.test')).map(({ subject }) => subject)).toEqual(['Thank you']);
    });

    it('a developer creates a key, sends with the shown curl command, and finds the request, the email and the delivery', async () => {
      const receiver: WebhookReceiver = await startWebhookReceiver();
      try {
        const { page } = await openSignedOut();
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await signIn(page);
        await openFromMenu(page, 'Webhooks');
        await findButton(page, 'Create endpoint').first().click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('URL').fill(`${receiver.url}/hooks`);
        await findButton(dialog, 'Create endpoint').click();
        await findButton(dialog, 'Done').click();

        await openFromMenu(page, 'API keys');
        await findButton(page, 'Create key').click();
        await dialog.getByLabel('Name').fill('Shop');
        await findButton(dialog, 'Create key').click();
        await findButton(dialog, 'Copy the command').click();
        const command = String(await page.evaluate('navigator.clipboard.readText()'));
        await findButton(dialog, 'Done').click();
        const response = JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8', stdio: 'pipe' }));
        expect(response, JSON.stringify(response)).toMatchObject({ success: true });

        await chooseMenuAction(page.getByRole('row', { name: /Shop/ }), 'View requests');
        await page.getByRole('link', { name: 'POST /v1/send' }).click();
        await page.getByRole('link', { name: 'ada@example.com' }).click();
        await page.getByRole('heading', { level: 1, name: 'Hello' }).waitFor();
        await page.locator('.status').getByText('Sent', { exact: true }).first().waitFor();
        expect((await readMailbox('ada@example.com')).map(({ subject }) => subject)).toEqual(['Hello']);

        await openFromMenu(page, 'Webhooks');
        await page.getByRole('link', { name: `${receiver.url}/hooks` }).click();
        await findButton(page, 'Show the delivery of email.sent').click();
        await dialog.getByText('DELIVERED').waitFor();
        await dialog.getByText('ada@example.com').waitFor();
        await findButton(dialog, 'Replay').click();
        const listSentEvents = () => receiver.received.filter(({ body }) => body.includes('"email.sent"'));
        await until(() => listSentEvents().length === 2, 'the delivery once more');
        expect(new Set(listSentEvents().map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      } finally {
        await receiver.close();
      }
    });

    it('an operator pauses a project with a reason, and its email waits until sending is resumed', async () => {
      const tenant = await buildProject(service.db, 'Corner Books');
      await buildDomain(service.db, { projectId: tenant.id, domain: 'books.test', signing: false });
      const call = (path: string, body: unknown) =>
        callHttp(service.baseUrl, 'POST', path, { key: tenant.secretKey, body });
      for (const name of ['one', 'two']) await call('/contacts', { email: `${name}@readers.test`, subscribed: true });
      await call('/campaigns', createCampaignBody({ name: 'New books', from: 'news@books.test' }));
      const readArrived = async () =>
        (await Promise.all(['one', 'two'].map((name) => readMailbox(`${name}@readers.test`)))).flat().length;

      const { page } = await openSignedOut();
      await signIn(page);
      await openFromMenu(page, 'Admin');
      await page.getByRole('link', { name: 'Projects' }).click();
      await page.getByRole('textbox', { name: 'Search by name' }).fill('corner');
      await page.getByRole('link', { name: 'Corner Books' }).click();
      await chooseMenuAction(page, 'Pause sending …');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Reason').fill('Complaints, ticket 7.');
      await findButton(dialog, 'Pause sending').click();
      await page.getByText('An operator paused sending of this project').waitFor();

      const { page: theirs } = await openDashboard({ service, project: tenant, path: '/' });
      await theirs.getByText('Complaints, ticket 7.').first().waitFor();
      await openFromMenu(theirs, 'Campaigns');
      await theirs.getByRole('link', { name: 'New books' }).click();
      await findButton(theirs, 'Continue to audience').click();
      await findButton(theirs, 'Continue to review').click();
      await theirs.getByText('Emails wait until it is resumed').waitFor();
      await findButton(theirs, 'Continue to schedule').click();
      await findButton(theirs, 'Send to 2 contacts now').click();
      await theirs.getByText(/^Waiting 2/).waitFor();
      await theirs.getByText('Sending is paused').waitFor();
      expect(await readArrived()).toBe(0);

      await findButton(page, 'Resume sending …').click();
      await dialog.getByLabel('Note').fill('They have mended their list.');
      await findButton(dialog, 'Resume sending').click();
      await page.getByText('An operator paused sending of this project').waitFor({ state: 'detached' });
      await page.getByText('resumed: They have mended their list.').waitFor();
      await theirs.locator('.status').getByText('Sent', { exact: true }).first().waitFor();
      await theirs.getByText(/^Delivered 2/).waitFor();
      await theirs.getByText('Sending is paused').waitFor({ state: 'detached' });
      expect(await readArrived()).toBe(2);
    });
  });
});

type Place = Pick<Page, 'getByRole'>;

function findButton(place: Place, name: string) {
  return place.getByRole('button', { name, exact: true });
}

/** Opens a screen with the link in the navigation. */
async function openFromMenu(page: Page, subject: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: subject, exact: true }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** Chooses a CSV file from the user's computer. */
async function chooseFile(page: Page, name: string, csv: string): Promise<void> {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), findButton(page, name).click()]);
  await chooser.setFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
}

/** Fills in the first condition of a segment: the field plan is `plan`. */
async function fillPlanFilter(page: Page, plan: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Field of filter 1' }).click();
  await page.getByRole('option', { name: 'plan', exact: true }).click();
  await page.getByRole('textbox', { name: 'Value of filter 1' }).fill(plan);
  await page.keyboard.press('Escape');
}

async function setMonthlyLimit(page: Page, emails: string): Promise<void> {
  await openFromMenu(page, 'Settings');
  await fillLimit(page, emails);
}

async function fillLimit(page: Page, emails: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Emails per month' }).fill(emails);
  await findButton(page, 'Save').click();
  await page.getByText('Saved.').last().waitFor();
}

/** Returns a step on the canvas, by its name. */
function findStep(page: Page, name: string) {
  return page.getByRole('group', { name: new RegExp(`^${name}, `) });
}

async function addStep(page: Page, where: string, what: string): Promise<void> {
  await findButton(page, where).first().click();
  await page.getByRole('dialog').getByRole('button', { name: what }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}
