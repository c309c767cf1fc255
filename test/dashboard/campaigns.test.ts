import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { buildContacts } from '../build/campaigns.ts';
import { expectOk } from '../build/workflows.ts';
import {
  chooseOption,
  describeInBrowser,
  expectNoSeriousAxeViolations,
  expectNoSidewaysScroll,
  openDashboard,
  type Page,
} from '../support/browser/browser.ts';
import { useCampaignService } from '../support/campaign-service.ts';
import { until } from '../support/until.ts';

const BODY = '<p>Hello {{firstName}}, <a href="https://example.com/teas">our teas</a></p>';

describeInBrowser('a campaign in the dashboard', () => {
  const campaigns = useCampaignService();
  const openAs = (path: string, as: 'OWNER' | 'MEMBER' = 'OWNER') =>
    openDashboard({ service: campaigns.service, project: campaigns.project, path, as });
  const buildAudience = (count: number) =>
    buildContacts(campaigns.service.db, { projectId: campaigns.project.id, count });
  const setMonthlyLimit = (emails: number | null) =>
    sql`UPDATE projects SET monthly_email_limit = ${emails} WHERE id = ${campaigns.project.id}`.execute(
      campaigns.service.db,
    );
  const setSendRate = (emails: number | null) =>
    sql`UPDATE projects SET send_rate_per_second = ${emails} WHERE id = ${campaigns.project.id}`.execute(
      campaigns.service.db,
    );
  const findButton = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

  it('is written, reviewed, sent and watched; unsent recipients are found with the reason, and retried', async () => {
    await buildAudience(4);
    await setMonthlyLimit(3);
    const { page, settled } = await openAs('/campaigns');
    await page.getByRole('heading', { name: 'No campaigns yet' }).waitFor();
    await findButton(page, 'Create campaign').first().click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Autumn teas');
    await findButton(page, 'Create draft').click();

    await page.getByRole('heading', { level: 1, name: 'Autumn teas' }).waitFor();
    await page.getByRole('textbox', { name: 'Subject', exact: true }).fill('Teas for {{firstName}}');
    // A reload loses no text, and the page says so.
    await page.reload();
    await page.getByText('Unsaved changes from this browser').waitFor();
    expect(await page.getByRole('textbox', { name: 'Subject', exact: true }).inputValue()).toBe(
      'Teas for {{firstName}}',
    );
    await findButton(page, 'Continue to audience').click();
    await page.getByRole('radio', { name: 'All contacts' }).waitFor();
    await findButton(page, 'Continue to review').click();

    await page.getByText('3 of 4 contacts will receive this').waitFor();
    await page.getByText('limit reached').waitFor();
    await findButton(page, 'Continue to schedule').click();
    await findButton(page, 'Send to 3 contacts now').click();

    await page.locator('.status').getByText('Sent', { exact: true }).first().waitFor();
    await page.getByText('Sent to 3 contacts, no opens yet.').waitFor();
    await page.getByText(/^Failed 1/).waitFor();
    const row = page.getByRole('row', { name: /limit reached/i });
    await row.getByRole('link', { name: '1' }).click();
    await page.getByRole('link', { name: /@to\.test$/ }).waitFor();
    expect(new URL(page.url()).search).toBe('?reason=limit_reached');
    await settled();

    await setMonthlyLimit(null);
    await findButton(page, 'Retry').click();
    await page.getByText('1 contact will be retried.').waitFor();
    await page.goBack();
    await page.getByText('Sent to the whole audience.').waitFor();
    expect(campaigns.sink.perRecipient().size).toBe(4);
    // The test is long, and the machine may be busy.
  });

  it('is created for a segment, whose subscribed contacts are counted, from a layout that is shown as a preview', async () => {
    await buildAudience(3);
    const filters = { logic: 'AND', groups: [{ filters: [{ field: 'data.n', operator: 'lessThan', value: 2 }] }] };
    const segment = await expectOk(campaigns.call('POST', '/segments', { name: 'Early', type: 'DYNAMIC', filters }));
    const { page } = await openAs(`/segments/${segment.id}`);
    await findButton(page, 'Create campaign').click();
    await page.getByText('Estimated recipients: 2 subscribed today').waitFor();
    expect(new URL(page.url()).search).toBe(`?segment=${segment.id}`);
    await page.getByRole('radio', { name: 'All contacts' }).check();
    await page.getByText('Estimated recipients: 3 subscribed today').waitFor();
    await page.getByRole('radio', { name: 'Segment' }).check();
    await page.getByRole('radio', { name: 'Plain' }).check();
    await page.locator('label', { hasText: 'Plain' }).locator('iframe').waitFor({ state: 'attached' });
    await expectNoSeriousAxeViolations(page);
    await findButton(page, 'Create draft').hover();
    await page.getByRole('tooltip', { name: 'Enter a name first.' }).waitFor();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('For pro');
    await findButton(page, 'Create draft').click();
    await page.getByRole('heading', { level: 1, name: 'For pro' }).waitFor();
    const { campaigns: listed } = await expectOk(campaigns.call('GET', '/v1/campaigns?search=For%20pro'));
    expect(listed).toEqual([expect.objectContaining({ audienceType: 'SEGMENT', segmentId: segment.id })]);
  });

  it('is created and tested only once by a double click', async () => {
    const { page, settled } = await openAs('/campaigns/new');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Pressed twice');
    await findButton(page, 'Create draft').dblclick();
    await page.getByRole('heading', { level: 1, name: 'Pressed twice' }).waitFor();
    await findButton(page, 'Send test').click();
    await page.getByRole('textbox', { name: 'To', exact: true }).fill('me@to.test');
    await findButton(page, 'Save and send test').dblclick();
    await page.getByText('Sending a test email to me@to.test.').waitFor();
    await settled();
    const { rows } = await sql<{ campaigns: number; tests: number }>`
      SELECT (SELECT count(*)::int FROM campaigns WHERE project_id = p.id AND name = 'Pressed twice') AS campaigns,
        (SELECT count(*)::int FROM emails WHERE project_id = p.id AND campaign_id IS NULL) AS tests
      FROM projects p WHERE p.id = ${campaigns.project.id}`.execute(campaigns.service.db);
    expect(rows).toEqual([{ campaigns: 1, tests: 1 }]);
  });

  it('is written on a full-screen canvas, previewed for a contact, and has versions with different content', async () => {
    await buildAudience(1);
    const id = await campaigns.create({ body: '<p>Main words for {{firstName ?? there}}</p>' });
    const { page, settled } = await openAs(`/campaigns/${id}/edit`);
    expect(await page.getByRole('navigation', { name: 'Menu' }).count()).toBe(0);
    const canvas = page.frameLocator('iframe[title="Email, editable in place"]');
    await canvas.getByText('Main words').waitFor();
    await expectNoSeriousAxeViolations(page);

    await findButton(page, 'Preview').click();
    const dialog = page.getByRole('dialog', { name: 'Preview' });
    await dialog.getByText('Phone', { exact: true }).click();
    await dialog.frameLocator('iframe').getByText('Main words for there').waitFor();
    await expectNoSeriousAxeViolations(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    await findButton(page, 'Add a second variant').click();
    await page.getByRole('switch', { name: 'Variant body' }).last().check({ force: true });
    await page.getByText('Code', { exact: true }).click();
    await page.getByRole('textbox', { name: 'HTML and Liquid' }).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('Other words');
    await page.getByText('Main content', { exact: true }).click();
    await canvas.getByText('Main words').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved.', { exact: true }).waitFor();
    await settled();
    const { body, variants } = await expectOk(campaigns.call('GET', `/campaigns/${id}`));
    expect(body).toContain('Main words');
    expect(variants.map((one: { body?: string }) => one.body)).toEqual([undefined, 'Other words']);
  });

  it('is edited on a phone below a header of one row, whose menu has the steps and the other actions', async () => {
    await buildAudience(1);
    const id = await campaigns.create({ name: 'Written on the way to the shop in the morning', body: BODY });
    const { page } = await openDashboard({
      service: campaigns.service,
      project: campaigns.project,
      path: `/campaigns/${id}/edit`,
      viewport: 'phone',
    });
    const header = page.locator('main header');
    const openMenu = () => header.getByRole('button', { name: 'More actions' }).click();
    expect((await header.boundingBox())?.height).toBeLessThanOrEqual(52);
    await page.getByRole('textbox', { name: 'Subject', exact: true }).fill('Changed');
    await header.getByText('Not saved').waitFor();
    expect((await header.boundingBox())?.height).toBeLessThanOrEqual(52);
    await openMenu();
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('menuitem', { name: 'Undo' }).click();
    await header.getByText('Saved', { exact: true }).waitFor();
    await openMenu();
    await page.getByRole('menuitem', { name: '3. Review' }).click();
    await page.getByRole('heading', { name: 'Checks' }).waitFor();
    await header.getByText('Review', { exact: true }).waitFor();
    await findButton(page, 'Continue to schedule').click();
    await page.getByRole('radio', { name: 'Now' }).waitFor();
    await openMenu();
    await page.getByRole('menuitem', { name: 'Send test' }).click();
    await page.getByRole('dialog', { name: 'Send test' }).waitFor();
    await expectNoSidewaysScroll(page);
  });

  it('can be filtered by every status within the width of a phone', async () => {
    await campaigns.create({ name: 'A draft' });
    const { service, project } = campaigns;
    const { page } = await openDashboard({ service, project, path: '/campaigns', viewport: 'phone' });
    await page.getByRole('link', { name: 'A draft' }).waitFor();
    for (const status of ['All', 'Canceled']) {
      const box = await page.getByText(status, { exact: true }).boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 1_000)).toBeLessThanOrEqual(390);
    }
  });

  it('with many recipients requires the user to type their number, can be paused, and resumes', async () => {
    await buildAudience(150);
    // Sending all emails takes a minute, so there is time to pause.
    await setSendRate(3);
    const id = await campaigns.create({ body: BODY });
    const { page } = await openAs(`/campaigns/${id}/edit?step=when`);
    await findButton(page, 'Send to 150 contacts now').click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Send now' }).isDisabled()).toBe(true);
    await dialog.getByRole('textbox').fill('150');
    await dialog.getByRole('button', { name: 'Send now' }).click();
    await findButton(page, 'Pause').click();
    await page.locator('.status').getByText('Paused', { exact: true }).first().waitFor();
    await setSendRate(null);
    await findButton(page, 'Resume').click();
    await page.locator('.status').getByText('Sent', { exact: true }).first().waitFor();
    expect(campaigns.sink.perRecipient().size).toBe(150);
  });

  it('shows clicks of each link on its email, and hours with humans and bots separately', async () => {
    await buildAudience(2);
    const id = await campaigns.create({ body: BODY });
    await campaigns.send(id);
    await campaigns.waitForStatus(id, 'SENT');
    const db = campaigns.service.db;
    await sql`
      INSERT INTO link_clicks (campaign_id, email_id, link, project_id, content_id, clicks)
      SELECT campaign_id, id, 0, project_id, content_id, 3 FROM emails WHERE campaign_id = ${id} LIMIT 1`.execute(db);
    await sql`UPDATE emails SET opened_at = now(), machine_opens = 2 WHERE campaign_id = ${id}`.execute(db);
    await sql`UPDATE campaign_chunks SET figures = NULL WHERE campaign_id = ${id}`.execute(db);
    await sql`
      INSERT INTO campaign_machine_hours (campaign_id, hour, project_id, opens)
      SELECT id, floor(extract(epoch FROM started_at) / 3600)::int, project_id, 17 FROM campaigns WHERE id = ${id}`.execute(
      db,
    );
    const { page } = await openAs(`/campaigns/${id}`);
    // The report of a campaign with few emails starts with counts of contacts, not rates.
    await page.getByText('2 of 2 opened').waitFor();
    await page.frameLocator('iframe').last().getByText('3 clicks').waitFor();
    await page.getByText('4 opens').waitFor();
    await page.getByRole('img', { name: /Opens and clicks by humans/ }).waitFor();
    await page.getByText('Show as table').click();
    await page.getByRole('columnheader', { name: 'Bot opens' }).waitFor();
    await page.getByRole('cell', { name: '17', exact: true }).waitFor();
    await page.getByRole('link', { name: '2' }).first().waitFor();
  });

  it('counts the clicks of the simulator at their link, as in the tile', async () => {
    const body = { email: 'click@simulator.test', subscribed: true };
    await expectOk(campaigns.call('POST', '/contacts', body));
    const id = await campaigns.create({ body: BODY });
    await campaigns.send(id);
    await campaigns.waitForStatus(id, 'SENT');
    await until(async () => (await campaigns.call('GET', `/campaigns/${id}/stats`)).body.clicked === 1, 'the click');
    const { page } = await openAs(`/campaigns/${id}`);
    await page.frameLocator('iframe').last().getByText('1 click', { exact: true }).waitFor();
    await page.getByText('List', { exact: true }).click();
    const row = page.getByRole('table', { name: 'Links' }).getByRole('row', { name: /teas/ });
    expect(await row.getByRole('cell').nth(1).innerText()).toBe('1');
  });

  it('shows an estimate without a test that was switched off, undoes changes, and shows its subject as an example', async () => {
    await buildAudience(20);
    const variants = [
      { name: 'A', weight: 1 },
      { name: 'B', weight: 1, subject: 'Teas' },
    ];
    const test = { share: 0.2, metric: 'opens', waitMinutes: 240, minimum: 0 };
    const id = await campaigns.create({
      name: 'Tested',
      subject: 'Teas for {{firstName}}',
      body: BODY,
      variants,
      test,
    });
    const { page, open: go } = await openAs(`/campaigns/${id}/edit?step=when`);
    await page.getByText(/Estimated send time: (about )?4 hours/).waitFor();
    await page.getByRole('switch', { name: 'Test on a sample, then send the winner' }).uncheck({ force: true });
    await page.getByText(/Estimated send time: (about )?\d+ seconds?/).waitFor();
    await findButton(page, 'Undo').click();
    await page.getByText(/Estimated send time: (about )?4 hours/).waitFor();
    await findButton(page, 'Redo').click();
    await page.getByText(/Estimated send time: (about )?\d+ seconds?/).waitFor();
    await expectNoSeriousAxeViolations(page);
    await go('/campaigns');
    await page.getByText('Teas for Maren').waitFor();
  });

  it('cannot be sent until the audience on the screen is complete and saved', async () => {
    await buildAudience(2);
    const filters = { logic: 'AND', groups: [{ filters: [{ field: 'data.n', operator: 'lessThan', value: 1 }] }] };
    await expectOk(campaigns.call('POST', '/segments', { name: 'Early', type: 'DYNAMIC', filters }));
    const id = await campaigns.create({ body: BODY });
    const { page, open } = await openAs(`/campaigns/${id}/edit?step=audience`);
    const send = findButton(page, /^Send to .* now$/);
    const expectBlocked = async (reason: string) => {
      await page.getByText(reason).first().waitFor();
      expect(await page.getByText(/will receive this/).count()).toBe(0);
      await send.hover();
      await page.getByRole('tooltip', { name: reason }).waitFor();
      expect(await send.getAttribute('aria-disabled')).toBe('true');
      await send.click({ force: true });
    };
    const openSchedule = async () => {
      await findButton(page, 'Continue to review').click();
      await findButton(page, 'Continue to schedule').click();
    };
    await page.getByRole('radio', { name: 'Filter' }).check();
    await openSchedule();
    await expectBlocked('Complete all rules first.');
    await page.goBack();
    await page.goBack();
    await page.getByRole('radio', { name: 'Segment' }).check();
    await openSchedule();
    await expectBlocked('Choose a segment first.');
    await page.goBack();
    await page.goBack();
    await chooseOption(page, 'Segment', /^Early/);
    await openSchedule();
    await findButton(page, 'Send to 1 contact now').waitFor();
    await findButton(page, 'Undo').click();
    await expectBlocked('Choose a segment first.');
    // A draft that this browser has kept is complete, but the number on the button is that of the saved audience.
    await open(`/campaigns/${id}/edit?step=audience`);
    await page.getByRole('radio', { name: 'All contacts' }).check();
    await open(`/campaigns/${id}/edit?step=when`);
    await expectBlocked('Save the changes first.');
    expect(campaigns.sink.perRecipient().size).toBe(0);
    await findButton(page, 'Save').click();
    await findButton(page, 'Send to 2 contacts now').click();
    await page.getByText('Sent to 2 contacts, no opens yet.').waitFor();
    expect(campaigns.sink.perRecipient().size).toBe(2);
  });

  it('with problems cannot be sent, and links to the fields to correct', async () => {
    const id = await campaigns.create({ body: '<p><a href="javascript:x">no</a></p>' });
    const { page } = await openAs(`/campaigns/${id}/edit?step=review`);
    await page.getByText('No contacts will receive this').waitFor();
    await page.getByText('javascript:x').waitFor();
    await findButton(page, 'Fix in Audience').click();
    await page.getByRole('radio', { name: 'All contacts' }).waitFor();
    expect(new URL(page.url()).search).toBe('?step=audience');
  });

  it('keeps the status filter of its list in the address and on the way back', async () => {
    await campaigns.create({ name: 'A draft' });
    const { page } = await openAs('/campaigns?status=SENT');
    await page.getByText('No campaigns with the status “Sent”.').waitFor();
    await page.getByLabel('Search').last().fill('nothing like it');
    await page.getByText('No campaigns found.').waitFor();
    await page.getByRole('link', { name: 'Show all campaigns' }).click();
    await page.keyboard.press('/');
    await page.getByPlaceholder('Search or paste an ID').fill('a DRAFT');
    await page.getByRole('dialog').getByText('A draft').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Drafts').click();
    await page.getByRole('link', { name: 'A draft' }).click();
    await page.getByRole('heading', { level: 1, name: 'A draft' }).waitFor();
    await page.getByRole('link', { name: 'Back to campaigns' }).click();
    await until(() => Promise.resolve(page.url().endsWith('/app/campaigns?status=DRAFT')), 'the list with its filter');
  });
});
