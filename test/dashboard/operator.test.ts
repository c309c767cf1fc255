import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Db } from '../../db/connection.ts';
import { recordSnsMessage } from '../../db/operator/sns-subscriptions.ts';
import { countOutcomesSql } from '../../db/sending/hold-guard.ts';
import { buildEmail } from '../build/emails.ts';
import {
  chooseMenuAction,
  describeInBrowser,
  expectNoSeriousAxeViolations,
  expectNoSidewaysScroll,
  type OpenDashboard,
  openDashboard,
  type Page,
} from '../support/browser/browser.ts';
import { pausePeriodicWork } from '../support/operator.ts';
import { createOperatorAddresses } from '../support/operator-addresses.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { signIn } from '../support/session.ts';

const operators = createOperatorAddresses(14);
const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:ses-feedback';
const HOSTILE = `<img src=x onerror=alert(1)> {{name}} ${'x'.repeat(80)}`;

describeInBrowser('the operator’s screens', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ OPERATORS: operators.all, SNS_TOPIC_ARNS: TOPIC });
    // Otherwise a round may end while the screens show that no round has ended.
    await pausePeriodicWork(service, ['recovery']);
    await buildOperation(service);
    await recordSnsMessage(service.db, { topic: TOPIC, kind: 'refused' });
  });
  afterAll(() => service?.close());

  const openAsOperator = (p: Omit<OpenDashboard, 'service'>) =>
    openDashboard({ service, email: operators.next(), ...p });

  it('do not exist for the owner of a project', async () => {
    const { page, open } = await openDashboard({ service, path: '/', mayFail: [/response: 404 to GET .operator/] });
    expect(await page.getByRole('link', { name: 'Admin' }).count()).toBe(0);
    await open('/operator');
    await page.getByText('Only operators of this service').waitFor();
  });

  it('show the state of the installation: healthy parts, and parts that need attention', async () => {
    const { page } = await openAsOperator({ path: '/operator' });
    await page.getByRole('link', { name: 'Admin' }).waitFor();
    await page.getByText('Version 18').waitFor();
    await page.getByText('Needs attention: Outbox, Periodic work, Processes', { exact: true }).waitFor();
    const processes = page.getByRole('table', { name: 'Processes' });
    expect(await processes.getByRole('row').count()).toBe(4);
    await processes.getByText('not responding', { exact: true }).waitFor();
    await page.getByText('Processes run different builds').waitFor();
    await page.getByRole('table', { name: 'Outbox' }).getByText('Temporal was away').waitFor();
    const work = page.getByRole('table', { name: 'Periodic work' });
    expect(await work.getByRole('row').count()).toBe(6);
    await work.getByText('segments: a segment hangs').waitFor();
    await page.getByText('Not completed for three periods: Recovery.').waitFor();
    // The test's own worker asks Temporal for tasks of every queue.
    const queues = page.getByRole('table', { name: 'Task queues' });
    expect(await queues.getByRole('row').count()).toBe(9);
    await expectNoSeriousAxeViolations(page);
  });

  it('list all projects, and keep search, hold and order in the address, also on the way back', async () => {
    const { page, settled } = await openAsOperator({ path: '/operator/projects' });
    await page.getByRole('link', { name: HOSTILE }).waitFor();
    await page.getByRole('textbox', { name: 'Sort by' }).click();
    await page.getByRole('option', { name: 'Most emails' }).click();
    await page.getByRole('textbox', { name: 'Search by name' }).fill('two');
    await page.waitForURL(/order=mails.*q=two|q=two.*order=mails/);
    await settled();
    expect(await readProjectNames(page)).toEqual(['Two']);
    await page.getByText('30 days').click();
    await page.getByRole('columnheader', { name: 'Emails in 30 days' }).waitFor();
    await page.waitForURL(/over=month/);
    await page.getByRole('link', { name: 'Two' }).click();
    await page.getByRole('heading', { level: 1, name: 'Two' }).waitFor();
    await page.getByRole('heading', { level: 2, name: 'The last 30 days' }).waitFor();
    await page.getByRole('link', { name: 'Projects' }).first().click();
    await page.waitForURL(/q=two/);
    await expectNoSeriousAxeViolations(page);
  });

  it('list projects with headers of one line, and show no rate for a project that sent no email', async () => {
    for (const over of ['day', 'month']) {
      const { page } = await openAsOperator({ path: `/operator/projects?over=${over}` });
      const table = page.getByRole('table', { name: 'Projects' });
      await table.getByRole('link').first().waitFor();
      for (const header of await table.getByRole('columnheader').all()) {
        expect((await header.boundingBox())?.height, (await header.textContent()) ?? '').toBeLessThan(36);
      }
      expect(await table.getByText('–').count()).toBe(0);
    }
  });

  it('hold a project with a reason, release it with a note, and show both', async () => {
    const { page } = await openAsOperator({ path: `/operator/projects/${service.two.id}` });
    await chooseMenuAction(page, 'Pause sending …');
    const holding = page.getByRole('dialog', { name: 'Pause sending of Two' });
    expect(await holding.getByRole('button', { name: 'Pause sending', exact: true }).isDisabled()).toBe(true);
    await holding.getByLabel('Reason').fill('Bought list, ticket 7');
    await expectNoSeriousAxeViolations(page);
    await holding.getByRole('button', { name: 'Pause sending', exact: true }).click();
    await page.getByText('An operator paused sending of this project').waitFor();
    expect(await readOperatorHoldReason(service.db, service.two.id)).toBe('Bought list, ticket 7');
    await page.getByRole('button', { name: 'Resume sending …' }).click();
    const releasing = page.getByRole('dialog', { name: 'Resume sending of Two' });
    await releasing.getByLabel('Note').fill('List removed');
    await releasing.getByRole('button', { name: 'Resume sending', exact: true }).click();
    await page.getByText('An operator paused sending of this project').waitFor({ state: 'detached' });
    expect(await readOperatorHoldReason(service.db, service.two.id)).toBe(null);
    const actions = page.getByRole('table', { name: 'Pauses, resumes and limits' });
    await actions.getByText('resumed: List removed').waitFor();
    await actions.getByText('paused: Bought list, ticket 7').waitFor();
    expect(await actions.getByText('operator:').count()).toBe(0);
    const actor = await actions.getByRole('row').nth(1).getByRole('cell').last().textContent();
    expect(operators.all.split(',')).toContain(actor);
  });

  it('set limits, which apply at once, and remove them', async () => {
    const { page } = await openAsOperator({ path: `/operator/projects/${service.two.id}` });
    const month = page.getByRole('textbox', { name: 'Emails per month' });
    const save = page.getByRole('button', { name: 'Save limits' });
    expect(await save.isDisabled()).toBe(true);
    await month.fill('5000');
    await page.getByRole('textbox', { name: 'Auto-pause at bounce rate' }).fill('2.5');
    await save.click();
    await page.getByText(/· pauses at 2\.5%$/).waitFor();
    expect(await month.inputValue()).toBe('5,000');
    const { body } = await service.call('GET', '/project', { key: null, headers: await signInAsOwner(service) });
    expect(body).toMatchObject({ monthlyEmailLimit: 5000, bounceGuard: 0.025 });
    await month.fill('');
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByPlaceholder('No limit').first().waitFor();
    await expectNoSeriousAxeViolations(page);
  });

  it('see in an empty field the limit that applies, and a lower limit of the project', async () => {
    await service.db
      .updateTable('projects')
      .set({ monthly_email_limit: 900, operator_monthly_email_limit: 5_000, send_rate_per_second: 7 })
      .where('id', '=', service.one.id)
      .execute();
    const { page } = await openAsOperator({ path: `/operator/projects/${service.one.id}` });
    await page.getByText('The project’s own limit is lower: 900.').waitFor();
    const rate = page.getByRole('textbox', { name: 'Emails per second' });
    expect([await rate.inputValue(), await rate.getAttribute('placeholder')]).toEqual(['', '7']);
  });

  it('show the replies of providers by code, and keep the time span in the URL', async () => {
    const { page, settled } = await openAsOperator({ path: '/operator/providers' });
    const table = page.getByRole('table', { name: 'Provider responses' });
    await table.getByText('550 5.1.1', { exact: true }).waitFor();
    await table.getByText('full.example').waitFor();
    await page.getByText(`${TOPIC}: Refused: switch off “Enable raw message delivery”`).waitFor();
    await page.getByRole('textbox', { name: 'Period' }).click();
    await page.getByRole('option', { name: 'Last 7 days' }).click();
    await page.waitForURL(/hours=168/);
    await settled();
    await expectNoSeriousAxeViolations(page);
  });

  it.each([
    ['phone', false],
    ['phone', true],
    ['desktop', true],
  ] as const)('fit a %s, dark %s', async (viewport, dark) => {
    const { page, open } = await openAsOperator({ viewport, dark });
    const [hostile] = await service.db.selectFrom('projects').select('id').where('name', '=', HOSTILE).execute();
    for (const path of ['', '/projects', `/projects/${hostile?.id}`, '/providers']) {
      await open(`/operator${path}`);
      await expectNoSidewaysScroll(page);
      await expectNoSeriousAxeViolations(page);
    }
  });
});

const readProjectNames = (page: Page) =>
  page.getByRole('table', { name: 'Projects' }).locator('tbody a').allInnerTexts();

async function readOperatorHoldReason(db: Db, projectId: string): Promise<string | null> {
  const row = await db
    .selectFrom('projects')
    .select('operator_hold_reason')
    .where('id', '=', projectId)
    .executeTakeFirstOrThrow();
  return row.operator_hold_reason;
}

async function signInAsOwner(service: TestService): Promise<Record<string, string>> {
  return signIn({ db: service.db, deps: { config: { publicUrl: service.baseUrl } } }, service.two);
}

/**
 * Builds three processes of two builds; one process no longer responds. Also builds a waiting row of the outbox, a
 * project with a hostile name, outcomes, and replies of providers.
 */
async function buildOperation({ db, one, two }: TestService): Promise<void> {
  const createProcess = (kind: 'api' | 'worker', build: string, seen: string) => ({
    id: uuidv7(),
    kind,
    host: 'host-1',
    pid: 7,
    version: '0.1.0',
    build,
    started_at: new Date(),
    seen_at: sql<Date>`now() + ${seen}::interval`,
  });
  await db
    .insertInto('processes')
    .values([
      createProcess('api', 'aaaaaaaaaaaaaaaa', '1 hour'),
      createProcess('worker', 'bbbbbbbbbbbbbbbb', '1 hour'),
      createProcess('worker', 'bbbbbbbbbbbbbbbb', '-1 minute'),
    ])
    .execute();
  await sql`UPDATE periodic_work SET ended_at = now(), duration_ms = 12500`.execute(db);
  await sql`UPDATE periodic_work SET ended_at = now() - interval '1 hour' WHERE kind = 'recovery'`.execute(db);
  await sql`
    UPDATE periodic_work SET last_error = 'segments: a segment hangs', last_error_at = now(), unfinished = 3
    WHERE kind = 'segments'
  `.execute(db);
  await db
    .insertInto('outbox')
    .values({
      project_id: one.id,
      kind: 'email.retry',
      ref_id: one.id,
      last_error: 'Temporal was away',
      available_at: sql<Date>`now() + interval '1 hour'`,
    })
    .execute();
  const hostile = await db
    .insertInto('projects')
    .values({ name: HOSTILE, public_key: `pk_${uuidv7()}`, public_key_hash: randomBytes(32) })
    .returning('id')
    .executeTakeFirstOrThrow();
  for (const [id, emails] of [
    [one.id, 100],
    [two.id, 40],
    [hostile.id, 7],
  ] as const) {
    await countOutcomesSql(
      sql`SELECT ${id}::uuid AS project_id, ${emails}::int AS mails, 3 AS dead, 1 AS complaints`,
    ).execute(db);
  }
  await db
    .insertInto('provider_outcomes')
    .values({ project_id: hostile.id, provider: 'google', recent: '0011' })
    .execute();
  for (const projectId of [one.id, two.id]) {
    const id = await buildEmail(db, { projectId, to: 'a@full.example', status: 'FAILED' });
    await db
      .updateTable('emails')
      .set({ error: `550 5.1.1 ${HOSTILE}` })
      .where('id', '=', id)
      .execute();
  }
}
