import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import {
  chooseOption,
  describeInBrowser,
  expectNoSeriousAxeViolations,
  openDashboard,
} from '../support/browser/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** The user of these tests knows no API, and uses only forms for settings and results of an automation. */
describeInBrowser('the forms of automations in the dashboard', () => {
  let service: TestService;
  let templateId: string;
  beforeAll(async () => {
    service = await startTestService();
    const projectId = service.one.id;
    await buildDomain(service.db, { projectId });
    templateId = await buildTemplate(service.db, { projectId, subject: 'Hello', type: 'MARKETING' });
  });
  afterAll(() => service?.close());

  const track = (email: string, event: string, data: object = {}) =>
    expectOk(service.call('POST', '/v1/track', { body: { email, event, data } }));
  const readWorkflow = (id: string) => expectOk(service.call('GET', `/workflows/${id}`));
  const readConfig = async (id: string, stepId: string | undefined) =>
    (await readWorkflow(id)).steps.find((step: { id: string }) => step.id === stepId).config;

  it('set up the matching events, the body of a webhook and the changes of a contact without any JSON', async () => {
    await track('grace@example.com', 'order.paid', { total: 40, currency: 'EUR', cart: { items: 2 } });
    await expectOk(service.call('POST', '/contacts', { body: { email: 'pro@example.com', data: { plan: 'pro' } } }));
    const headers = { Authorization: 'Bearer very-secret-token' };
    const workflow = await buildWorkflow(service, {
      enabled: false,
      eventName: 'order.paid',
      steps: {
        wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'order.paid', timeout: 60 }, to: 'hook' },
        hook: { type: 'WEBHOOK', config: { url: 'https://hooks.example.com/x', headers }, to: 'mark' },
        mark: { type: 'UPDATE_CONTACT', config: { updates: { plan: 'free', n: 1.5, tags: ['a', { b: 1 }] } } },
      },
    });
    const { wait, hook, mark } = workflow.steps;
    const { page, mayFail } = await openDashboard({ service, path: `/automations/${workflow.id}?step=${wait}` });
    // On a busy machine the editor checks an expression before the test has typed all of it.
    mayFail(/422/);

    // Match only orders above 100, by a field of the last order.
    await page.getByRole('button', { name: 'Filter by event data …' }).click();
    await chooseOption(page, 'Field of filter 1', 'total');
    await chooseOption(page, 'Comparison of filter 1', 'is more than');
    await page.getByText('One row is incomplete').waitFor();
    await page.getByRole('textbox', { name: 'Value of filter 1' }).fill('100');
    await page.getByText('One row is incomplete').waitFor({ state: 'detached' });
    await expectNoSeriousAxeViolations(page);

    // Headers: the secret stays masked and is kept; a header is added.
    await page.locator('.react-flow__node', { hasText: 'hook' }).click();
    const secret = page.getByRole('textbox', { name: 'Value of header 1' });
    expect(await secret.inputValue()).toBe('Bear••••');
    await page.getByRole('textbox', { name: 'Name of header 1' }).fill('X-Key');
    await page.getByText('Enter the value again').waitFor();
    await page.getByRole('textbox', { name: 'Name of header 1' }).fill('Authorization');
    await page.getByRole('button', { name: 'Add header' }).press('Enter');
    await page.getByRole('textbox', { name: 'Name of header 2' }).fill('authorization');
    await page.getByText('This header already exists.').waitFor();
    await page.getByRole('textbox', { name: 'Name of header 2' }).fill('X-Source');
    await page.getByRole('textbox', { name: 'Value of header 2' }).fill('tidings');
    const body = page.getByRole('textbox', { name: 'Body' });
    await body.click();
    await page.keyboard.type('{"order": {{');
    await page.getByText('Invalid JSON: line 1, column 12.').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('{"order": "{{event.tot');
    // The test does not press Enter here: right after the list opens, Enter would insert a line.
    await page.getByRole('option', { name: /event\.total/ }).click();
    await page.getByText('Invalid JSON').waitFor({ state: 'detached' });
    await expectNoSeriousAxeViolations(page);

    // Data: a field with a variable is added, one field is emptied, and one is removed; a list stays unchanged.
    await page.locator('.react-flow__node', { hasText: 'mark' }).click();
    await page.getByRole('button', { name: 'Add field' }).click();
    await page.getByRole('textbox', { name: 'Name of field 4' }).fill('lastTotal');
    await chooseOption(page, 'Type of field 4', 'Variable');
    await page.getByRole('textbox', { name: 'Value of field 4' }).fill('event.total');
    await chooseOption(page, 'Type of field 2', 'Empty');
    await page.getByRole('button', { name: 'Remove field n' }).click();
    await expectNoSeriousAxeViolations(page);
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();

    expect(await readConfig(workflow.id, wait)).toEqual({
      eventName: 'order.paid',
      timeout: 60,
      filters: {
        logic: 'OR',
        groups: [{ filters: [{ field: 'event.total', operator: 'greaterThan', value: 100 }] }],
      },
    });
    expect(await readConfig(workflow.id, hook)).toMatchObject({
      headers: { Authorization: 'Bear••••', 'X-Source': '••••' },
      body: { order: '{{event.total}}' },
    });
    expect(await readConfig(workflow.id, mark)).toEqual({
      updates: { plan: null, tags: ['a', { b: 1 }], lastTotal: '{{event.total}}' },
    });
  });

  it('list the events that end a run, add one with the keyboard, and keep fields that they do not show', async () => {
    const { id } = await buildWorkflow(service, { eventName: 'cart', steps: { end: { type: 'EXIT' } } });
    const filters = {
      logic: 'AND' as const,
      groups: [{ filters: [{ field: 'event.total', operator: 'greaterThan', value: 1 }] }],
    };
    await expectOk(
      service.call('PATCH', `/workflows/${id}`, {
        body: { exitOn: [{ eventName: 'order.paid', filters }, { eventName: 'left' }] },
      }),
    );
    const { page } = await openDashboard({ service, path: `/automations/${id}?panel=automation` });
    await page.getByRole('textbox', { name: 'Value of filter 1' }).fill('20');
    await page.getByRole('button', { name: 'Remove event left' }).press('Enter');
    await page.getByRole('button', { name: 'Add exit event' }).press('Enter');
    const save = page.getByRole('button', { name: 'Save settings' });
    expect(await save.getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('textbox', { name: 'Event 2' }).focus();
    await page.keyboard.type('bought');
    await expectNoSeriousAxeViolations(page);
    await save.press('Enter');
    await page.getByText('Settings saved.').waitFor();
    expect((await readWorkflow(id)).exitOn).toEqual([
      {
        eventName: 'order.paid',
        filters: { ...filters, groups: [{ filters: [{ field: 'event.total', operator: 'greaterThan', value: 20 }] }] },
      },
      { eventName: 'bought' },
    ]);
  });

  it('keep the unit of a time limit while its amount is typed, until another step is shown', async () => {
    const { id, steps } = await buildWorkflow(service, {
      eventName: 'cart',
      enabled: false,
      steps: {
        first: { type: 'WAIT_FOR_EVENT', config: { eventName: 'order.paid', timeout: 86_400 }, to: 'second' },
        second: { type: 'WAIT_FOR_EVENT', config: { eventName: 'order.paid', timeout: 7_200 } },
      },
    });
    const { page } = await openDashboard({ service, path: `/automations/${id}?step=${steps.first}` });
    const limit = page.getByRole('textbox', { name: 'Time limit' });
    const unit = page.getByRole('textbox', { name: 'Unit' });
    const read = async () => [await limit.inputValue(), await unit.inputValue()];
    await limit.click();
    await page.keyboard.press('End');
    await page.keyboard.press('Backspace');
    expect(await read()).toEqual(['', 'days']);
    await page.keyboard.type('75');
    expect(await read()).toEqual(['75', 'days']);
    await page.locator('.react-flow__node', { hasText: 'second' }).click();
    await expect.poll(read).toEqual(['2', 'hours']);
    await chooseOption(page, 'Unit', 'days');
    expect(await read()).toEqual(['2', 'days']);
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await readConfig(id, steps.first)).toEqual({ eventName: 'order.paid', timeout: 75 * 86_400 });
    expect(await readConfig(id, steps.second)).toEqual({ eventName: 'order.paid', timeout: 2 * 86_400 });
  });

  it('offer to end a wait and a run by automatic replies, if the event can be such a reply', async () => {
    const { id, steps } = await buildWorkflow(service, {
      eventName: 'cart',
      enabled: false,
      steps: { wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'email.received' } } },
    });
    const { page, open } = await openDashboard({ service, path: `/automations/${id}?step=${steps.wait}` });
    const ofWait = page.getByRole('checkbox', { name: 'Automatic replies also end the wait' });
    expect(await ofWait.isChecked()).toBe(false);
    await ofWait.check();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await readConfig(id, steps.wait)).toEqual({ eventName: 'email.received', includeAutomatic: true });

    await open(`/automations/${id}?panel=automation`);
    await page.getByRole('button', { name: 'Add exit event' }).click();
    const ofExit = page.getByRole('checkbox', { name: 'Automatic replies also end the run' });
    await page.getByRole('textbox', { name: 'Event 1' }).fill('order.paid');
    expect(await ofExit.count()).toBe(0);
    await page.getByRole('textbox', { name: 'Event 1' }).fill('email.received');
    await page.keyboard.press('Escape');
    await ofExit.check();
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Settings saved.').waitFor();
    expect((await readWorkflow(id)).exitOn).toEqual([{ eventName: 'email.received', includeAutomatic: true }]);
  });

  it('test an automation with the fields of the latest payload, and with simulated events', async () => {
    await track('linus@example.com', 'booked', { seats: 2, guest: { name: 'Linus' } });
    const workflow = await buildWorkflow(service, {
      enabled: false,
      eventName: 'booked',
      steps: {
        large: {
          type: 'CONDITION',
          config: { field: 'event.seats', operator: 'greaterThan', value: 10 },
          to: { yes: 'paid', no: 'end' },
        },
        paid: { type: 'WAIT_FOR_EVENT', config: { eventName: 'settled' }, to: { event: 'thanks' } },
        thanks: { type: 'EXIT', config: { reason: 'thanked' } },
        end: { type: 'EXIT', config: { reason: 'small' } },
      },
    });
    const { page } = await openDashboard({ service, path: `/automations/${workflow.id}?panel=try` });
    const panel = page.getByRole('complementary', { name: 'Test' });
    await page.getByRole('textbox', { name: 'Contact' }).fill('linus');
    await page.getByRole('option', { name: 'linus@example.com' }).click();
    await page.getByText('Data of the latest event. You can change the values.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Name of field 2' }).inputValue()).toBe('seats');
    await page.getByRole('button', { name: 'Show path' }).click();
    await panel.getByText('small').waitFor();
    await page.getByRole('textbox', { name: 'Value of field 2' }).fill('12');
    await page.getByRole('button', { name: 'Add event' }).press('Enter');
    expect(await page.getByRole('textbox', { name: 'Event 1' }).inputValue()).toBe('settled');
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('button', { name: 'Show path' }).press('Enter');
    await panel.getByText('thanked').waitFor();
    expect(await page.locator('[data-highlighted="true"]').count()).toBe(3);
    await page.getByRole('button', { name: 'Use the latest event again' }).click();
    expect(await page.getByRole('textbox', { name: 'Value of field 2' }).inputValue()).toBe('2');
  });

  it('link each count of a step to its contacts, and each contact to its run', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'counted',
      steps: {
        mail: { type: 'SEND_EMAIL', config: { templateId }, to: 'pause' },
        pause: { type: 'DELAY', config: { amount: 1, unit: 'days' } },
      },
    });
    for (const [email, subscribed] of [['yes@example.com', true] as const, ['no@example.com', false] as const]) {
      await expectOk(service.call('POST', '/contacts', { body: { email, subscribed } }));
      await track(email, 'counted');
    }
    const { page, settled } = await openDashboard({ service, path: `/automations/${workflow.id}` });
    const mail = page.locator('.react-flow__node', { hasText: 'mail' });
    await mail.getByRole('link', { name: '1 done' }).waitFor();
    // A card with an open rate hides skipped contacts. The panel shows every count.
    await mail.click();
    await page.getByRole('link', { name: 'Skipped: 1' }).click();
    const list = page.getByRole('list', { name: 'Contacts that left this step' });
    await list.getByText('no@example.com').waitFor();
    await list.getByText('unsubscribed').waitFor();
    await expectNoSeriousAxeViolations(page);
    // The address identifies the list, so it can be shared.
    expect(page.url()).toContain('visits=SKIPPED');
    await page.reload();
    await list.getByText('no@example.com').waitFor();

    // With the keyboard: press Enter on the step, open the third tab, and choose another state.
    await mail.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Settings' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.getByRole('radio', { name: 'Failed 0' }).press(' ');
    await page.getByText('No runs failed here.').waitFor();
    await page.getByRole('radio', { name: 'Done 1' }).press(' ');
    await list.getByText('yes@example.com').waitFor();
    await list.getByRole('link', { name: 'Open run' }).press('Enter');
    await page.waitForURL(/messages\/executions/);
    await settled();
  });
});
