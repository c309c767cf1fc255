import { type Insertable, sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EMAIL_VIEWS } from '../../dashboard/screens/messages/search.ts';
import type { SmsMessagesTable } from '../../db/schema/sms.ts';
import { buildEmail } from '../build/emails.ts';
import { track } from '../build/events.ts';
import { buildDomain } from '../build/senders.ts';
import { type BuiltWorkflow, buildWorkflow, expectOk, listExecutions } from '../build/workflows.ts';
import {
  chooseMenuAction,
  describeInBrowser,
  expectNoSeriousAxeViolations,
  expectNoSidewaysScroll,
  openDashboard,
} from '../support/browser/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const NASTY = `<img src=x onerror=alert(1)>${'W'.repeat(500)}`;

describeInBrowser('messages and executions in the dashboard', () => {
  let service: TestService;
  let workflow: BuiltWorkflow;
  beforeAll(async () => {
    service = await startTestService({ TEMPORAL_UI_URL: 'https://temporal.example.com' });
    const { id: projectId } = service.one;
    await buildDomain(service.db, { projectId });
    const template = await expectOk(
      service.call('POST', '/templates', {
        body: {
          name: 'Hello',
          type: 'TRANSACTIONAL',
          from: 'hello@shop.example.com',
          subject: 'Hello {{name}}',
          body: '<p>{{name}}</p>',
        },
      }),
    );
    workflow = await buildWorkflow(service, {
      steps: {
        wait: {
          type: 'WAIT_FOR_EVENT',
          config: { eventName: 'paid', timeout: 86_400 },
          to: { event: 'mail', timeout: 'end' },
        },
        mail: { type: 'SEND_EMAIL', config: { templateId: template.id }, to: 'end' },
        end: { type: 'EXIT' },
      },
    });
    await track(service, 'ada@example.com', 'signup', { name: NASTY });
    await until(async () => (await listExecutions(service, workflow.id))[0]?.status === 'WAITING');
    const body = {
      to: 'click@simulator.test',
      from: 'hello@shop.example.com',
      subject: 'Order 1',
      body: '<p>1</p><script>alert(1)</script>',
    };
    await expectOk(service.call('POST', '/v1/send', { body }));
    await buildEmail(service.db, { projectId, status: 'FAILED', subject: 'Lost', to: 'lost@example.com' });
  });
  afterAll(() => service?.close());

  it('a message is readable on a phone, with any content', async () => {
    const long = 'W'.repeat(200);
    const body = {
      to: `${'w'.repeat(60)}@${'w'.repeat(60)}.${'w'.repeat(60)}.example`,
      from: { name: long, email: 'hello@shop.example.com' },
      reply: `${'r'.repeat(60)}@${'r'.repeat(60)}.example.com`,
      subject: 'W'.repeat(900),
      body: `<p>${long}</p>`,
      headers: { [`X-${'H'.repeat(60)}`]: long },
      attachments: [{ filename: `${long}.txt`, content: 'aGk=', contentType: 'text/plain' }],
    };
    const sent = await expectOk(service.call('POST', '/v1/send', { body }));
    const id = (sent.data ?? sent).emails[0].email;
    await sql`UPDATE emails SET error = ${long}, provider_message_id = ${`<${long}@mail.example>`} WHERE id = ${id}`.execute(
      service.db,
    );
    const { page, open } = await openDashboard({ service, viewport: 'phone' });
    for (const view of EMAIL_VIEWS) {
      await open(`/messages/${id}?view=${view}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expectNoSidewaysScroll(page);
    }
  });

  it('a waiting run is moved on, and links to its email and back', async () => {
    const { page } = await openDashboard({ service, path: `/messages/executions/${workflow.id}` });
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('link', { name: 'ada@example.com' }).click();
    await page.getByText('wait', { exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'Open in Temporal' }).getAttribute('href')).toMatch(
      /^https:\/\/temporal\.example\.com\/namespaces\/.+\/workflows\/execution-/,
    );
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('button', { name: 'Continue now' }).click();
    await page.getByRole('menuitem', { name: 'As if the event had arrived' }).click();
    await page.getByText('EXITED').waitFor();
    await page.getByRole('link', { name: 'Email', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: /Hello <img/ }).waitFor();
    await expectNoSidewaysScroll(page);
    await page.getByRole('link', { name: 'POST /v1/track' }).waitFor();
    await page.getByRole('link', { name: 'view run' }).click();
    await page.getByRole('heading', { level: 1, name: 'ada@example.com' }).waitFor();
    await page.getByRole('link', { name: 'POST /v1/track' }).click();
    await page.getByRole('heading', { level: 1, name: 'POST /v1/track' }).waitFor();
    await page.getByRole('link', { name: 'ada@example.com' }).click();
    await page.getByRole('heading', { level: 1, name: /Hello <img/ }).waitFor();
  });

  it('lists keep their filters in the address and on the way back', async () => {
    const { page, settled } = await openDashboard({ service, path: '/messages' });
    await page.getByLabel('Status').selectOption('Failed or skipped');
    await page.getByRole('link', { name: 'Lost' }).waitFor();
    await settled();
    expect(new URL(page.url()).search).toBe('?status=FAILED');
    expect(await page.getByRole('row').count()).toBe(2);
    await expectNoSeriousAxeViolations(page);
    await page.getByRole('link', { name: 'Lost' }).click();
    await page.getByRole('heading', { level: 1, name: 'Lost' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Emails' }).click();
    await page.waitForURL(/status=FAILED/);
  });

  it('an email is shown with its history, can be resent, and runs no script', async () => {
    const { page } = await openDashboard({ service, path: '/messages?to=click@simulator.test' });
    await page.getByRole('link', { name: 'Order 1' }).click();
    await page.getByRole('heading', { level: 1, name: 'Order 1' }).waitFor();
    await page.locator('.status').getByText('Clicked', { exact: true }).first().waitFor();
    await page.frameLocator('iframe').getByText('1', { exact: true }).waitFor();
    for (const [screen, width] of [
      ['Phone', 390],
      ['Dark', 560],
    ] as const) {
      await page.getByText(screen, { exact: true }).click();
      await page.frameLocator('iframe').last().getByText('1', { exact: true }).waitFor();
      const readWidth = async () => (await page.locator('iframe').last().boundingBox())?.width;
      if (screen === 'Phone') await expect.poll(readWidth).toBeLessThanOrEqual(width);
      else await expect.poll(readWidth).toBeGreaterThan(width);
      await expectNoSeriousAxeViolations(page);
    }
    for (const view of ['Plain text', 'Headers', 'Source', 'Events']) {
      await page.getByRole('tab', { name: view }).click();
      await expectNoSeriousAxeViolations(page);
    }
    await page.getByText('email.sent').waitFor();
    await page.getByRole('button', { name: 'Resend' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click();
    await page.getByRole('link', { name: 'resent from an earlier email' }).waitFor();
  });

  it('a link of an email loads nothing, and the background of its wrapper fills the frame', async () => {
    const link = (target: string) => `<a href="${service.baseUrl}/gone${target}" target="${target}">Link ${target}</a>`;
    const body = {
      to: 'wrapped@simulator.test',
      from: 'hello@shop.example.com',
      subject: 'Wrapped',
      body: `<!doctype html><div style="display:none">Preview</div><table width="100%" bgcolor="#f4f1ea"><tr><td>${link('_self')} ${link('')}</td></tr></table>`,
    };
    const sent = await expectOk(service.call('POST', '/v1/send', { body }));
    const { page, settled } = await openDashboard({
      service,
      path: `/messages/${(sent.data ?? sent).emails[0].email}`,
      mayFail: [/^console: Blocked opening/],
    });
    const email = page.frameLocator('iframe');
    for (const name of ['Link _self', 'Link']) {
      await email.getByRole('link', { name, exact: true }).click();
      await email.getByRole('link', { name, exact: true }).press('Enter');
    }
    await settled();
    expect(await email.getByRole('link').count()).toBe(2);
    const readBackground = () =>
      page.evaluate(
        `getComputedStyle(document.querySelector('iframe').contentDocument.documentElement).backgroundColor`,
      );
    await expect.poll(readBackground).toBe('rgb(244, 241, 234)');
  });

  it('the history of a withheld message ends with the reason', async () => {
    const id = await buildEmail(service.db, { projectId: service.one.id, status: 'FAILED' });
    await sql`UPDATE emails SET reason = 'unsubscribed' WHERE id = ${id}`.execute(service.db);
    const { page, settled } = await openDashboard({ service, path: `/messages/${id}` });
    const entries = page.getByRole('region', { name: 'Timeline' }).getByRole('listitem');
    const readFirst = async () => (await entries.first().innerText()).replaceAll(/\s+/g, ' ');
    expect(await readFirst()).toBe('Skipped Time not recorded Unsubscribed');
    await sql`UPDATE emails SET failed_at = created_at + interval '1 day' WHERE id = ${id}`.execute(service.db);
    await page.reload();
    await settled();
    expect(await readFirst()).toMatch(/^Skipped \w{3} \d+, \d\d:\d\d:\d\d Unsubscribed$/);
    expect(await entries.last().innerText()).toContain('Accepted');
    // A sentence is above the email; the API's code is in the details.
    const banner = page.getByRole('alert').filter({ hasText: 'The contact has unsubscribed.' });
    expect(await banner.innerText()).toBe('The contact has unsubscribed.');
    const details = page.getByRole('region', { name: 'Details' });
    await details.getByText('unsubscribed', { exact: true }).waitFor();
  });

  it('a message shows its history to the second, its reason in words, and its request in the menu', async () => {
    const id = await insertBouncedEmail(service);
    const { page } = await openDashboard({ service, path: `/messages/${id}` });
    await page.getByText('The mailbox does not exist.').waitFor();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    const entries = await timeline.getByRole('listitem').allInnerTexts();
    expect(entries.map((entry) => entry.replaceAll(/\s+/g, ' '))).toEqual([
      'Bounced 11:12:09 Permanent · 550 5.1.1 unknown user',
      'Sent 11:12:07 Accepted by the provider, 2 attempts',
      'Accepted 11:12:06',
    ]);
    await timeline.getByText('Nov 25, CET').waitFor();
    await expectNoSeriousAxeViolations(page);
    expect(await page.getByText('/v1/emails/').count()).toBe(0);
    await chooseMenuAction(page, 'API example');
    await page.getByRole('dialog').getByText(`/v1/emails/${id}`).first().waitFor();
    await expectNoSeriousAxeViolations(page);
  });

  it.each(['desktop', 'phone'] as const)(
    'an execution is cancelled after a word is typed, on a %s',
    async (viewport) => {
      await track(service, `${viewport}@example.com`, 'signup');
      const path = `/messages/executions/${workflow.id}?status=WAITING`;
      const { page } = await openDashboard({ service, path, viewport, dark: true });
      await page.getByRole('link', { name: new RegExp(`^${viewport} ?@example.com$`) }).click();
      await chooseMenuAction(page, 'Cancel run');
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox').fill('cancel');
      await dialog.getByRole('button', { name: 'Cancel run' }).click();
      await page.getByText('Run canceled').waitFor();
      await expectNoSeriousAxeViolations(page);
      await expectNoSidewaysScroll(page);
    },
  );

  it('an SMS starts with its result, and shows its size and its text as a phone does', async () => {
    const [sent_at, delivered_at] = [new Date('2026-11-25T12:00:01Z'), new Date('2026-11-25T12:00:06Z')];
    const id = await insertSms(service, { status: 'DELIVERED', sent_at, delivered_at });
    const { page } = await openDashboard({ service, path: `/messages/sms/${id}` });
    await page.getByText('Delivered to the phone in 5 seconds.').waitFor();
    const sms = page.getByRole('region', { name: 'Text of the SMS' });
    await sms.getByText('☕').waitFor();
    for (const fact of ['81', 'UCS-2', 'Up to 70 in one part', 'Split into 2 parts', 'Billed as 2 SMS'])
      await sms.getByText(fact, { exact: true }).waitFor();
    await page.getByText('Germany').waitFor();
    await expectNoSeriousAxeViolations(page);
  });

  it('an SMS that the provider refused says so, with the reply at the end of its timeline', async () => {
    const error = '30003 Unreachable destination handset';
    const id = await insertSms(service, { status: 'FAILED', reason: 'provider_rejected', error });
    const { page } = await openDashboard({ service, path: `/messages/sms/${id}` });
    await page.getByRole('alert').getByText('The provider refused the message. Its reply says why.').waitFor();
    const first = page.getByRole('region', { name: 'Timeline' }).getByRole('listitem').first();
    expect(await first.innerText()).toContain(error);
    await page.getByText('Not sent', { exact: true }).waitFor();
  });
});

/** Builds an SMS that was sent at noon. Returns its id. */
async function insertSms({ db, one }: TestService, set: Partial<Insertable<SmsMessagesTable>>): Promise<string> {
  const { id } = await db
    .insertInto('sms_messages')
    .values({
      project_id: one.id,
      to_phone: '+4915112345678',
      from_phone: '+15005550006',
      country: 'DE',
      encoding: 'UCS2',
      segments: 2,
      body: `${'Tea is at the door. '.repeat(4)}☕`,
      created_at: new Date('2026-11-25T12:00:00Z'),
      status: 'SENT',
      ...set,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Builds an email that bounced on its second attempt. Returns its id. */
async function insertBouncedEmail({ db, one }: TestService): Promise<string> {
  const id = await buildEmail(db, { projectId: one.id, status: 'BOUNCED', subject: 'Order 2', to: 'gone@example.com' });
  const error = '550 5.1.1 unknown user';
  await sql`
    UPDATE emails
    SET created_at = '2026-11-25T10:12:06Z', sent_at = '2026-11-25T10:12:07Z', bounced_at = '2026-11-25T10:12:09Z',
        attempts = 2, bounce_type = 'Permanent', reason = 'bounced:dead_mailbox', error = ${error}
    WHERE id = ${id}`.execute(db);
  return id;
}
