import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildDomain, buildTemplate } from '../build/senders.ts';
import { buildWorkflow, expectOk } from '../build/workflows.ts';
import {
  describeInBrowser,
  expectNoSeriousAxeViolations,
  expectNoSidewaysScroll,
  openDashboard,
  type Page,
} from '../support/browser/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

describeInBrowser('automations in the dashboard', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
    const projectId = service.one.id;
    await buildDomain(service.db, { projectId });
    await buildTemplate(service.db, { projectId, subject: 'Hello {{firstName}}' });
  });
  afterAll(() => service?.close());

  const createContact = async (email: string, data: object = {}) =>
    (await expectOk(service.call('POST', '/contacts', { body: { email, subscribed: true, data } }))).id as string;
  const track = (email: string, event: string) =>
    expectOk(service.call('POST', '/v1/track', { body: { email, event } }));

  it('are drawn with a wait and a branch, previewed, enabled, and completed by a contact', async () => {
    await createContact('ada@example.com', { plan: 'pro' });
    const { page } = await openDashboard({ service, path: '/automations' });
    await page.getByRole('button', { name: 'Create automation' }).first().click();
    await page.getByRole('radio', { name: /From scratch/ }).check();
    await page.getByRole('textbox', { name: 'Name' }).fill('Upgrade');
    await page.getByRole('textbox', { name: 'Trigger event' }).fill('upgraded');
    await page.getByRole('dialog').getByRole('button', { name: 'Create automation' }).click();
    await page.getByRole('heading', { name: 'Upgrade', level: 1 }).waitFor();

    // The user adds the first step and then its template. Until then the step shows what it lacks.
    await page.locator('.react-flow__node').first().waitFor();
    await expectNoSeriousAxeViolations(page);
    await addStep(page, 'Add the first step', 'Send email');
    await page.getByRole('status').filter({ hasText: 'Choose a template.' }).waitFor();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Enable' }).getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('textbox', { name: 'Template' }).click();
    await page.getByRole('option').first().click();
    await addStep(page, 'Add a step after Send email', 'Delay');
    await addStep(page, 'Add a step after Delay', 'If/else');
    await addStep(page, 'Add a step after If/else, branch yes', 'Exit');
    await page.getByRole('status').filter({ hasText: '1 issue to fix' }).waitFor();
    await page.locator('.react-flow__node', { hasText: '1 issue' }).getByText('If/else').click();
    await page.getByRole('textbox', { name: 'Next step of branch no' }).click();
    await page.getByRole('option', { name: 'Exit' }).click();
    await page.getByText('issue to fix').waitFor({ state: 'detached' });

    // A reload loses nothing. Then the automation is saved.
    await page.reload();
    await page.getByText('Unsaved changes from this browser').waitFor();
    // Presses the key several times, like a key that is held down.
    await page.keyboard.down('Control');
    for (let n = 0; n < 4; n += 1) await page.keyboard.down('s');
    await page.keyboard.up('s');
    await page.keyboard.up('Control');
    await page.getByText('Saved', { exact: true }).waitFor();
    await expectNoSeriousAxeViolations(page);

    await page.getByRole('button', { name: 'Test' }).click();
    await page.getByRole('textbox', { name: 'Contact' }).fill('ada');
    await page.getByRole('option', { name: 'ada@example.com' }).click();
    await page.getByRole('button', { name: 'Show path' }).click();
    await page.getByText('sends to ada@example.com').waitFor();
    expect(await page.locator('[data-highlighted="true"]').count()).toBe(4);

    await page.getByRole('button', { name: 'Clear path' }).click();
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('Enabled', { exact: true }).waitFor();
    await track('ada@example.com', 'upgraded');
    await page.locator('.react-flow__node', { hasText: 'Delay' }).getByText('1 waiting').click();
    await page.getByText('ada@example.com').first().waitFor();
    await page.getByRole('button', { name: 'Continue now' }).click();
    await page.getByText('No contacts at this step.').waitFor();
    await page.locator('.react-flow__node', { hasText: 'Exit' }).getByRole('link', { name: '1 done' }).waitFor();
    await page.getByText('yes 100%').waitFor();
  });

  it('can be drawn with the keyboard alone, and every change can be undone', async () => {
    const workflow = await buildWorkflow(service, {
      enabled: false,
      eventName: 'by-keys',
      steps: {
        first: { type: 'DELAY', config: { amount: 1, unit: 'days' }, to: 'last' },
        last: { type: 'EXIT' },
      },
    });
    const { page } = await openDashboard({ service, path: `/automations/${workflow.id}` });
    const findNode = (name: string) => page.locator('.react-flow__node', { hasText: name });
    await findNode('first').focus();
    await page.keyboard.press('a');
    await page.getByRole('button', { name: /Wait for event/ }).press('Enter');
    await findNode('Wait for event').waitFor();
    await page.getByRole('button', { name: 'Close the panel' }).press('Enter');
    await findNode('Wait for event').focus();
    await page.keyboard.press('Delete');
    await findNode('Wait for event').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+z');
    await findNode('Wait for event').waitFor();
    await page.keyboard.press('Control+z');
    await findNode('Wait for event').waitFor({ state: 'detached' });
    await page.getByText('Saved', { exact: true }).waitFor();
    await findNode('last').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Reason' }).fill('by keys');
    await page.getByText('Not saved', { exact: true }).waitFor();
  });

  it("show the API's errors at the step, and report that another user has saved", async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'both',
      steps: { first: { type: 'DELAY', config: { amount: 1, unit: 'days' }, to: 'last' }, last: { type: 'EXIT' } },
    });
    const { page, mayFail } = await openDashboard({
      service,
      path: `/automations/${workflow.id}?step=${workflow.steps.first}`,
    });
    mayFail(/response: (422|409) to PUT/);
    mayFail(/422|409/);
    await page.getByLabel('Amount').fill('400');
    await page.getByText('a delay can be at most 365 days').first().waitFor();
    expect(await page.locator('[data-faulty="true"]').count()).toBe(1);
    await page.getByLabel('Amount').fill('3');
    await page.getByText('at most 365 days').first().waitFor({ state: 'detached' });
    await expectOk(
      service.call('PATCH', `/workflows/${workflow.id}/steps/${workflow.steps.last}`, { body: { name: 'theirs' } }),
    );
    await page.getByRole('button', { name: 'Publish changes' }).click();
    await page.getByText('Someone else changed this automation').waitFor();
    await page.getByRole('button', { name: 'Keep my version' }).click();
    await page.getByRole('button', { name: 'Publish changes' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    const { steps } = await expectOk(service.call('GET', `/workflows/${workflow.id}`));
    expect(steps).toMatchObject([{ config: { amount: 3 } }, { name: 'last' }]);
  });

  it('merge the steps of two users, who choose a version of each step that both changed', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'both',
      steps: { first: { type: 'DELAY', config: { amount: 1, unit: 'days' }, to: 'last' }, last: { type: 'EXIT' } },
    });
    const { first, last } = workflow.steps;
    const { page, mayFail } = await openDashboard({ service, path: `/automations/${workflow.id}?step=${first}` });
    // The check of the graph reports the other user's version too.
    mayFail(/409/);
    await page.getByLabel('Amount').fill('3');
    const patchStep = (id: string | undefined, body: object) =>
      expectOk(service.call('PATCH', `/workflows/${workflow.id}/steps/${id}`, { body }));
    await patchStep(first, { config: { amount: 9, unit: 'hours' } });
    await patchStep(last, { name: 'theirs' });
    // After a reload the draft is restored, on top of changes that were saved later.
    await page.reload();
    await page.getByText('Someone else changed this automation').waitFor();
    await expectNoSeriousAxeViolations(page);
    const both = page.getByRole('radiogroup', { name: 'first' });
    await both.getByText('9 hours').waitFor();
    await both.getByRole('radio', { name: 'Mine' }).check();
    await page.getByRole('button', { name: 'Use these choices' }).click();
    await page.getByRole('button', { name: 'Publish changes' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    const { steps, transitions } = await expectOk(service.call('GET', `/workflows/${workflow.id}`));
    expect(steps).toMatchObject([{ config: { amount: 3, unit: 'days' } }, { name: 'theirs' }]);
    expect(transitions).toMatchObject([{ fromStepId: first, toStepId: last }]);
  });

  it('fill the window with readable steps and counts for a period, and have rare actions in menus', async () => {
    const STEPS = 24;
    const names = Array.from({ length: STEPS }, (_, n) => `pause ${n}`);
    const workflow = await buildWorkflow(service, {
      eventName: 'long',
      steps: Object.fromEntries(
        names.map((name, n) => [
          name,
          { type: 'DELAY' as const, config: { amount: 1, unit: 'days' }, ...(names[n + 1] && { to: names[n + 1] }) },
        ]),
      ),
    });
    await createContact('long@example.com');
    await track('long@example.com', 'long');
    const { page } = await openDashboard({ service, path: `/automations/${workflow.id}` });
    const first = page.locator('.react-flow__node', { hasText: 'pause 0' });
    await first.getByRole('link', { name: '1 waiting' }).waitFor();
    expect(await page.getByRole('navigation', { name: 'Menu' }).count()).toBe(0);
    const zoom = page.getByRole('group', { name: 'Zoom' });
    await zoom.getByText('75%').waitFor();
    await zoom.getByRole('button', { name: 'Zoom to 100%' }).click();
    await zoom.getByText('100%').waitFor();
    await zoom.getByRole('button', { name: 'Fit to screen' }).click();
    await zoom.getByText('75%').waitFor();

    const last = page.locator('.react-flow__node', { hasText: `pause ${STEPS - 1}` });
    const below = page.getByRole('button', { name: /^\d+ more steps? below$/ });
    expect(await isInWindow(last)).toBe(false);
    await expect
      .poll(async () => {
        if (await below.isVisible()) await below.press('Enter');
        return (await below.isVisible()) || !(await isInWindow(last));
      })
      .toBe(false);
    expect(await isInWindow(first)).toBe(false);
    await zoom.getByRole('button', { name: 'Fit to screen' }).click();
    await page.getByRole('button', { name: /more steps above/ }).waitFor({ state: 'detached' });

    await page.getByText('7 days', { exact: true }).click();
    await page.waitForURL(/days=7/);
    await first.getByRole('link', { name: '1 waiting' }).click();
    const panel = page.getByRole('complementary', { name: 'pause 0' });
    await panel.getByRole('link', { name: 'Waiting: 1' }).waitFor();
    await panel.getByRole('button', { name: 'More actions for pause 0' }).click();
    await page.getByRole('menuitem', { name: 'Remove step' }).click();
    await page.getByText('Saving ends the runs of 1 contact').waitFor();
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await first.waitFor();

    await expectNoSeriousAxeViolations(page);
    await page.getByRole('button', { name: 'More actions', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await page.getByText('Disabled', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Back to automations' }).click();
    await page.getByRole('heading', { level: 1, name: 'Automations' }).waitFor();
    await page.getByRole('navigation', { name: 'Menu' }).waitFor();
  });

  it('with eight branches, each with a step, are readable in a laptop’s window as a whole', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => `branch ${name}`);
    const workflow = await buildWorkflow(service, {
      enabled: false,
      eventName: 'eight',
      steps: {
        split: {
          type: 'SPLIT',
          config: { branches: names.map((name) => ({ name, weight: 1 })) },
          to: Object.fromEntries(names.map((name) => [name, `step of ${name}`])),
        },
        ...Object.fromEntries(names.map((name) => [`step of ${name}`, { type: 'EXIT' as const }])),
      },
    });
    const { page } = await openDashboard({ service, path: `/automations/${workflow.id}` });
    await page.locator('.react-flow__node').first().waitFor();
    for (const name of names)
      expect(await isInWindow(page.locator('.react-flow__node', { hasText: `step of ${name}` })), name).toBe(true);
    expect(await page.getByRole('button', { name: /more steps?/ }).count()).toBe(0);
    expect(
      await page
        .getByRole('group', { name: 'Zoom' })
        .getByText(/^(7[5-9]|[89]\d|100)%$/)
        .isVisible(),
    ).toBe(true);
  });

  it('list on a phone what a draft lacks, in plain words', async () => {
    const logic = { logic: 'AND', groups: [{ filters: [{ field: 'data.vip', operator: 'equals', value: true }] }] };
    const draft = await buildWorkflow(service, {
      enabled: false,
      triggerType: 'MANUAL',
      steps: { Mail: { type: 'SEND_EMAIL' }, Branch: { type: 'CONDITION', config: logic } },
    });
    const { page } = await openDashboard({ service, viewport: 'phone', path: `/automations/${draft.id}` });
    await page.getByText('Choose a template.').waitFor();
    await page.getByText('Choose the next step of branch yes.').waitFor();
    expect(await page.getByRole('main').innerText()).not.toMatch(/SEND_EMAIL|CONDITION|entry/);
    await page.getByRole('button', { name: /^Branch vip/ }).click();
    await page.getByRole('textbox', { name: 'Next step of branch yes' }).waitFor();
    expect(await page.getByRole('main').innerText()).not.toMatch(/SEND_EMAIL|CONDITION|entry/);
    await expectNoSeriousAxeViolations(page);
  });

  it('show no trigger event if they are started manually, although the API stores one', async () => {
    const { id } = await buildWorkflow(service, {
      name: 'By hand',
      enabled: false,
      triggerType: 'MANUAL',
      eventName: 'kept.event',
      steps: { pause: { type: 'DELAY', config: { amount: 1, unit: 'days' } } },
    });
    const { page, open } = await openDashboard({ service, path: '/automations?search=By+hand' });
    await page.getByRole('row', { name: /^By hand Manual or API/ }).waitFor();
    await open(`/automations/${id}`);
    await page.getByText('Started manually or by API').waitFor();
    await open(`/automations/${id}?panel=automation`);
    expect(await page.getByRole('textbox', { name: 'Trigger event' }).inputValue()).toBe('');
    expect(await page.getByText('kept.event').count()).toBe(0);
  });

  it('are listed on a phone with the step at which several branches join after all of these branches', async () => {
    const logic = { logic: 'AND', groups: [{ filters: [{ field: 'data.vip', operator: 'equals', value: true }] }] };
    const wait = { type: 'DELAY' as const, config: { amount: 1, unit: 'days' }, to: 'Together' };
    const { id } = await buildWorkflow(service, {
      steps: {
        Ask: { type: 'CONDITION', config: logic, to: { yes: 'Left', no: 'Right' } },
        Left: wait,
        Right: wait,
        Together: { type: 'EXIT' },
      },
    });
    const { page } = await openDashboard({ service, viewport: 'phone', path: `/automations/${id}` });
    await page.getByRole('button', { name: /^Together/ }).waitFor();
    const lines = (await page.getByRole('main').getByRole('list').first().innerText())
      .split('\n')
      .map((line) => line.trim());
    const names = lines.filter((line) => /^(Ask|Left|Right|Together|Yes|No|→ Together)$/i.test(line));
    expect(names.map((name) => name.toLowerCase())).toEqual(
      ['Ask', 'Yes', 'Left', '→ Together', 'No', 'Right', 'Together'].map((name) => name.toLowerCase()),
    );
  });

  it('are readable on a phone as a list of steps, with any names', async () => {
    const workflow = await buildWorkflow(service, {
      eventName: 'phone',
      steps: {
        ask: {
          type: 'CONDITION',
          config: { field: 'data.plan', operator: 'equals', value: 'x'.repeat(300) },
          to: { yes: 'end', no: 'pause' },
        },
        pause: { type: 'DELAY', config: { amount: 1, unit: 'days' } },
        end: { type: 'EXIT' },
      },
    });
    const { page, open } = await openDashboard({ service, viewport: 'phone', path: `/automations/${workflow.id}` });
    await page.getByRole('button', { name: /ask/ }).waitFor();
    expect(await page.locator('.react-flow').count()).toBe(0);
    await expectNoSidewaysScroll(page);
    await expectNoSeriousAxeViolations(page);
    // The name of a button that adds a step contains the name of the step before it.
    for (const id of Object.values(workflow.steps)) {
      const body = { name: `<b>${'M'.repeat(190)}` };
      await expectOk(service.call('PATCH', `/workflows/${workflow.id}/steps/${id}`, { body }));
    }
    for (const search of ['', `?step=${workflow.steps.pause}`, '?panel=try']) {
      await open(`/automations/${workflow.id}${search}`);
      await page
        .getByRole('button', { name: /Add a step after <b>M/ })
        .last()
        .waitFor();
      await expectNoSidewaysScroll(page);
    }
    await open(`/automations/${workflow.id}?panel=automation`);
    await page.getByRole('button', { name: 'Save settings' }).waitFor();
    await expectNoSidewaysScroll(page);
    await open('/automations');
    await page.getByRole('link', { name: 'Test' }).first().waitFor();
    await expectNoSidewaysScroll(page);
    await expectNoSeriousAxeViolations(page);
  });
});

/** Opens the list of steps by a button, and chooses one. */
async function addStep(page: Page, where: string, what: string): Promise<void> {
  await page.getByRole('button', { name: where, exact: true }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: what }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

/** Tells whether the whole element is inside the window. */
async function isInWindow(element: Locator): Promise<boolean> {
  const box = await element.boundingBox();
  const window = element.page().viewportSize();
  if (!box || !window) return false;
  return box.x >= 0 && box.y >= 0 && box.x + box.width <= window.width && box.y + box.height <= window.height;
}
