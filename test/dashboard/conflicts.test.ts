import { afterAll, beforeAll, expect, it } from 'vitest';
import { getProject } from '../../db/projects/projects.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type ProjectChanges, updateProject } from '../../engine/projects/project-changes.ts';
import { createCampaignBody } from '../build/campaigns.ts';
import { buildDomain } from '../build/senders.ts';
import { expectOk } from '../build/workflows.ts';
import { buildProject, type TestProject } from '../support/api.ts';
import {
  describeInBrowser,
  expectNoSeriousAxeViolations,
  expectNoSidewaysScroll,
  openDashboard,
  openWindow,
  type Page,
} from '../support/browser/browser.ts';
import { buildPerson } from '../support/person.ts';
import { startTestService, type TestService } from '../support/service.ts';

const FILTERS = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] };
const MAIL = { type: 'TRANSACTIONAL', subject: 'Old', from: 'hi@sender.test', body: '<p>Hi</p>' };
const STALE = [/response: 409/, /409 \(Conflict\)/];

/** Two users change the same record: one in the browser, the other by the API. */
describeInBrowser('an editor of the dashboard', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
    await buildDomain(service.db, { projectId: service.one.id, domain: 'sender.test' });
  });
  afterAll(() => service?.close());

  const call = async (method: string, path: string, body?: object) =>
    expectOk(service.call(method, path, body ? { body } : {}));
  const createRecord = async (kind: string, body: object) => {
    const created = await call('POST', `/${kind}`, body);
    return (created.data ?? created).id as string;
  };
  const findButton = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const findChoice = (page: Page, field: string, side: 'Mine' | 'Theirs') =>
    page.getByRole('radiogroup', { name: field, exact: true }).getByRole('radio', { name: side });

  const EDITORS = [
    {
      kind: 'campaigns',
      method: 'PUT',
      body: () => createCampaignBody({ name: 'Old name', subject: 'Old' }),
      path: (id: string) => `/campaigns/${id}/edit`,
      field: 'Subject',
      mine: { subject: 'Mine' },
      theirs: { subject: 'Theirs' },
      other: { preheader: 'Theirs alone' },
      save: 'Save',
      saved: 'Saved.',
    },
    {
      kind: 'templates',
      method: 'PATCH',
      body: () => ({ ...MAIL, name: 'Old name' }),
      path: (id: string) => `/templates/${id}`,
      field: 'Subject',
      mine: { subject: 'Mine' },
      theirs: { subject: 'Theirs' },
      other: { preheader: 'Theirs alone' },
      save: 'Save',
      saved: 'Saved.',
    },
    {
      kind: 'segments',
      method: 'PATCH',
      body: () => ({ name: `Old name ${crypto.randomUUID()}`, description: 'Old', filters: FILTERS }),
      path: (id: string) => `/segments/${id}?tab=condition`,
      field: 'Description',
      mine: { description: 'Mine' },
      theirs: { description: 'Theirs' },
      other: { trackMembership: true },
      save: 'Save',
      saved: 'Saved.',
    },
    {
      kind: 'workflows',
      method: 'PATCH',
      body: () => ({ name: 'Old name', description: 'Old', eventName: 'signup' }),
      path: (id: string) => `/automations/${id}?panel=automation`,
      field: 'Description',
      mine: { description: 'Mine' },
      theirs: { description: 'Theirs' },
      other: { allowReentry: true },
      save: 'Save settings',
      saved: 'Settings saved.',
    },
  ] as const;

  it.each(EDITORS)('the form of $kind shows both versions on a conflict, and loses neither', async (editor) => {
    const { kind, method, field } = editor;
    const id = await createRecord(kind, editor.body());
    const readRecord = () => call('GET', `/${kind}/${id}`);
    const { page, mayFail } = await openDashboard({ service, path: editor.path(id) });
    for (const fault of STALE) mayFail(fault);
    const input = page.getByRole('textbox', { name: field, exact: true });
    await input.fill('Mine');
    await call(method, `/${kind}/${id}`, { ...editor.theirs, ...editor.other });
    await findButton(page, editor.save).last().click();
    await page.getByText('Someone else saved changes').waitFor();
    expect(await readRecord()).toMatchObject({ ...editor.theirs, ...editor.other });
    expect(await input.inputValue()).toBe('Mine');
    await expectNoSeriousAxeViolations(page);
    await expectNoSidewaysScroll(page);
    expect(await findButton(page, 'Use these choices').isDisabled()).toBe(true);
    await findChoice(page, field, 'Mine').check();
    await findButton(page, 'Use these choices').click();
    await findButton(page, editor.save).last().click();
    await page.getByText(editor.saved).waitFor();
    expect(await readRecord()).toMatchObject({ ...editor.mine, ...editor.other });
    expect(await page.evaluate('Object.keys(localStorage).filter((key) => key.includes("draft"))')).toEqual([]);
  });

  it.each(EDITORS)(
    'the form of $kind takes the other user’s value of a field on request, and sends only changed fields',
    async (editor) => {
      const { kind, method, field } = editor;
      const id = await createRecord(kind, editor.body());
      const { page } = await openDashboard({ service, path: editor.path(id) });
      const input = page.getByRole('textbox', { name: field, exact: true });
      await input.fill('Mine');
      await call(method, `/${kind}/${id}`, editor.theirs);
      // After a reload the draft is restored, on top of changes that were saved later.
      await page.reload();
      await findChoice(page, field, 'Theirs').check();
      await findButton(page, 'Use these choices').click();
      await expect.poll(() => input.inputValue()).toBe('Theirs');
      const bodies: object[] = [];
      page.on('request', (request) => {
        if (request.method() === method && request.url().endsWith(id)) bodies.push(request.postDataJSON() as object);
      });
      const { updatedAt } = await call('GET', `/${kind}/${id}`);
      await input.fill('Mine, again');
      await findButton(page, editor.save).last().click();
      await page.getByText(editor.saved).waitFor();
      expect(bodies).toEqual([{ [Object.keys(editor.mine)[0] ?? '']: 'Mine, again', updatedAt }]);
    },
  );

  it("a form shows what another user saved in other fields before the user's changes are saved", async () => {
    const id = await createRecord('templates', { ...MAIL, name: 'Shared' });
    const { page, mayFail } = await openDashboard({ service, path: `/templates/${id}` });
    for (const fault of STALE) mayFail(fault);
    await page.getByRole('textbox', { name: 'Subject' }).fill('Mine');
    await call('PATCH', `/templates/${id}`, { preheader: 'Theirs' });
    await page.keyboard.press('Control+s');
    await page.getByText('Their changes are saved and shown here.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Preview text' }).inputValue()).toBe('Theirs');
    await findButton(page, 'Use these choices').click();
    await page.keyboard.press('Control+s');
    await page.getByText('Saved.').waitFor();
    expect(await call('GET', `/templates/${id}`)).toMatchObject({ subject: 'Mine', preheader: 'Theirs' });
  });

  /** Another owner saves settings of the project. */
  const changeSettings = (project: TestProject, changes: ProjectChanges) =>
    inTransaction(service.db, (trx) => updateProject(trx, { projectId: project.id, changes }));
  const readSettings = ({ id: projectId }: TestProject) => getProject(service.db, projectId);

  it('the form of the project settings shows both versions on a conflict, and loses neither', async () => {
    const project = await buildProject(service.db, 'Old name');
    const { page } = await openDashboard({ service, project, path: '/settings' });
    const input = page.getByRole('textbox', { name: 'Name', exact: true });
    await input.fill('Mine');
    await changeSettings(project, { name: 'Theirs', sendRatePerSecond: 50 });
    await findButton(page, 'Save').click();
    await page.getByText('Someone else saved changes').waitFor();
    expect(await readSettings(project)).toMatchObject({ name: 'Theirs', sendRatePerSecond: 50 });
    expect(await input.inputValue()).toBe('Mine');
    expect(await page.getByLabel('Emails per second').inputValue()).toBe('50');
    await expectNoSeriousAxeViolations(page);
    await expectNoSidewaysScroll(page);
    expect(await findButton(page, 'Use these choices').isDisabled()).toBe(true);
    await findChoice(page, 'Name', 'Mine').check();
    await findButton(page, 'Use these choices').click();
    await findButton(page, 'Save').click();
    await page.getByText('Saved.').waitFor();
    expect(await readSettings(project)).toMatchObject({ name: 'Mine', sendRatePerSecond: 50 });
    expect(await page.evaluate('Object.keys(localStorage).filter((key) => key.includes("draft"))')).toEqual([]);
  });

  it('the form of the project settings sends only the changed fields, also from a draft of this browser', async () => {
    const project = await buildProject(service.db, 'Old name');
    const { page } = await openDashboard({ service, project, path: '/settings' });
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Mine');
    await changeSettings(project, { sendRatePerSecond: 50 });
    // After a reload the draft is restored, on top of changes that were saved later.
    await page.reload();
    await page.getByText('Unsaved changes from this browser.').waitFor();
    const bodies: object[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PATCH') bodies.push(request.postDataJSON() as object);
    });
    await findButton(page, 'Save').click();
    await page.getByText('Saved.').waitFor();
    expect(bodies).toEqual([{ name: 'Mine' }]);
    expect(await readSettings(project)).toMatchObject({ name: 'Mine', sendRatePerSecond: 50 });
  });

  it('project settings that the user has not changed show what another user saved', async () => {
    const project = await buildProject(service.db, 'Old name');
    const { page, open } = await openDashboard({ service, project });
    await page.clock.install();
    await open('/settings');
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Old name' }).waitFor();
    await changeSettings(project, { sendRatePerSecond: 50 });
    // Until then, the dashboard does not read the settings again.
    await page.clock.fastForward(6_000);
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await expect.poll(() => page.getByLabel('Emails per second').inputValue()).toBe('50');
    expect(await page.getByText('Unsaved changes').count()).toBe(0);
  });

  it('a form keeps typed text when the session ends, for this user only', async () => {
    const id = await createRecord('campaigns', createCampaignBody({ name: 'Kept' }));
    const path = `${service.baseUrl}/app/campaigns/${id}/edit`;
    const [ada, bob] = [
      await buildPerson(service.db, service.one.id, 'OWNER'),
      await buildPerson(service.db, service.one.id, 'OWNER'),
    ];
    const { context, page } = await openWindow();
    const signIn = async (person: { email: string; password: string }) => {
      const response = await context.request.post(`${service.baseUrl}/auth/login`, { data: person });
      expect(response.status()).toBe(200);
      await page.goto(path);
    };
    const subject = page.getByRole('textbox', { name: 'Subject', exact: true });
    await signIn(ada);
    const stored = await subject.inputValue();
    await subject.fill('Typed by Ada');
    await context.clearCookies();
    await findButton(page, 'Save').click();
    await page.getByRole('button', { name: /sign in/i }).waitFor();
    await signIn(bob);
    await subject.waitFor();
    expect(await subject.inputValue()).toBe(stored);
    await context.clearCookies();
    await signIn(ada);
    await page.getByText('Unsaved changes from this browser').waitFor();
    expect(await subject.inputValue()).toBe('Typed by Ada');
    await findButton(page, 'Discard changes').click();
    expect(await subject.inputValue()).toBe(stored);
    await page.reload();
    await subject.waitFor();
    expect(await subject.inputValue()).toBe(stored);
  });

  it('conflicting conditions are compared as sentences', async () => {
    const id = await createRecord('segments', { name: 'Compared', filters: FILTERS });
    const { page } = await openDashboard({ service, path: `/segments/${id}?tab=condition` });
    await page.getByRole('textbox', { name: 'Value of filter 1', exact: true }).fill('free');
    const [group] = FILTERS.groups;
    const [filter] = group?.filters ?? [];
    await call('PATCH', `/segments/${id}`, {
      filters: { ...FILTERS, groups: [{ filters: [{ ...filter, value: 'team' }] }] },
    });
    await page.reload();
    const group1 = page.getByRole('radiogroup', { name: 'Rules', exact: true });
    await group1.getByText('plan is free').waitFor();
    await group1.getByText('plan is team').waitFor();
  });
});
