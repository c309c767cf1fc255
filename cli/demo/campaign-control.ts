import { setTimeout as sleep } from 'node:timers/promises';
import { CONTACTS, PLANS } from './campaign.ts';
import { LONG_TIMEOUT_MS, waitFor } from './client.ts';
import type { TourContext } from './execution.ts';
import { formatNumber } from './report.ts';

/**
 * The tour waits this long for the last emails of a paused campaign. Then it checks for the same time that no further
 * email is sent.
 */
const STILL_MS = 1_500;
const READERS = 4;
/** A list of this many stars exceeds the memory limit of the template engine, so the email fails. */
const TOO_MANY_STARS = 1_000_000_000;
const TEST_SHARE = 0.1;

/** Returns the number of imported contacts with this plan. */
const countOnPlan = (plan: string) =>
  Array.from({ length: CONTACTS }, (_, i) => PLANS[i % PLANS.length]).filter((one) => one === plan).length;

/**
 * Pauses a campaign while it sends, and resumes it.
 * @returns the number of emails that must arrive
 */
export async function demonstratePause(tour: TourContext): Promise<number> {
  const { client, report } = tour;
  const id = await createDraft(tour, { name: 'pause', filters: [filter('tour', tour.run), filter('plan', 'pro')] });
  await client.call('POST', `/campaigns/${id}/send`, {});
  await client.call('POST', `/campaigns/${id}/pause`, {});
  // Waits for emails that were already at the provider when the campaign was paused.
  await sleep(STILL_MS);
  const before = await fetchStats(tour, id);
  await sleep(STILL_MS);
  const { sent } = await fetchStats(tour, id);
  report.line(`paused at ${formatNumber(sent)} of ${formatNumber(before.total)} sent`);
  report.check('sent while it was paused', sent - before.sent, 0);
  await client.call('POST', `/campaigns/${id}/resume`, {});
  const done = await waitUntilSent(tour, id);
  report.check('sent in total after it was resumed', done.sent, countOnPlan('pro'));
  return done.sent;
}

/**
 * Shows the failed recipients of a campaign with the reason, fixes the cause and retries these recipients.
 * @returns the number of emails that must arrive
 */
export async function demonstrateRetry(tour: TourContext): Promise<number> {
  const { client, report, run, toDomain } = tour;
  const group = `${run}-readers`;
  for (let n = 0; n < READERS; n++) {
    const data = { group, stars: n === 0 ? TOO_MANY_STARS : n };
    await client.call('POST', '/contacts', { email: `reader${n}@${toDomain}`, subscribed: true, data });
  }
  const body = '<p>Your stars: {% for star in (1..stars) %}★{% endfor %}</p>';
  const id = await createDraft(tour, { name: 'retry', filters: [filter('group', group)], body });
  await client.call('POST', `/campaigns/${id}/send`, {});
  await waitUntilSent(tour, id);
  const { data: failed } = await client.call('GET', `/campaigns/${id}/recipients?status=FAILED`);
  for (const { email, reason } of failed) report.line(`${email} did not get it: ${reason}`);
  const [first] = failed;
  await client.call('PATCH', `/contacts/${first.contactId}`, { data: { stars: 5 } });
  const { requeued } = await client.call('POST', `/campaigns/${id}/retry`, {}).then(unwrapData);
  report.check('retried after the contact was fixed', requeued, 1);
  const sent = await waitFor('the email of the retry', async () => {
    const stats = await fetchStats(tour, id);
    return stats.sent === READERS && stats.sent;
  });
  report.check('sent after the retry', sent, READERS);
  return sent;
}

/**
 * Tests two subjects on a share of the recipients. Chooses the winner by a request before the test ends, so that the
 * other recipients get it.
 * @returns the number of emails that must arrive
 */
export async function demonstrateVariants(tour: TourContext): Promise<number> {
  const { client, report } = tour;
  const id = await createDraft(tour, {
    name: 'A/B',
    filters: [filter('tour', tour.run), filter('plan', 'free')],
    variants: [
      { name: 'plain', subject: 'News for {{firstName}}' },
      { name: 'urgent', subject: '{{firstName}}, read this today' },
    ],
    test: { share: TEST_SHARE, metric: 'opens', waitMinutes: 60 },
  });
  const people = countOnPlan('free');
  const tested = Math.ceil(people * TEST_SHARE);
  await client.call('POST', `/campaigns/${id}/send`, {});
  await waitFor('the share of the test', async () => (await fetchStats(tour, id)).sent === tested, LONG_TIMEOUT_MS);
  report.check('got a variant; the other recipients wait', tested, tested);
  await client.call('POST', `/campaigns/${id}/winner`, { variant: 'urgent' });
  const done = await waitUntilSent(tour, id);
  report.line('the variant "urgent" was chosen by request, before the test ended');
  report.check('sent in total, with the winner for the waiting recipients', done.sent, people);
  return done.sent;
}

/**
 * Sends a campaign at the recipients' local time. If the send time has already passed in a recipient's time zone, the
 * recipient gets the email at once.
 * @returns the number of emails that must arrive
 */
export async function demonstrateLocalTime(tour: TourContext): Promise<number> {
  const { client, report, run, toDomain } = tour;
  const group = `${run}-zones`;
  for (const timezone of ['Europe/Berlin', 'America/New_York']) {
    const email = `${timezone.split('/')[1]?.toLowerCase()}@${toDomain}`;
    await client.call('POST', '/contacts', { email, subscribed: true, data: { group, timezone } });
  }
  const sendAtLocal = formatLocalTime('Europe/Berlin');
  const id = await createDraft(tour, { name: 'local time', filters: [filter('group', group)], sendAtLocal });
  await client.call('POST', `/campaigns/${id}/send`, {});
  await waitFor('the email to Berlin', async () => (await fetchStats(tour, id)).sent === 1);
  const { data: recipients } = await client.call('GET', `/campaigns/${id}/recipients`);
  report.line(`for ${sendAtLocal.replace('T', ' at ')} in each contact's local time:`);
  for (const { email, status, notBefore } of recipients) {
    report.line(`  ${email} ${status}${notBefore && status === 'PENDING' ? ` until ${notBefore}` : ''}`);
  }
  const waiting = recipients.filter(({ status }: { status: string }) => status === 'PENDING').length;
  report.check('recipients that wait for their local time', waiting, 1);
  await client.call('POST', `/campaigns/${id}/cancel`, {});
  return 1;
}

/** Returns the current local time of a zone as `YYYY-MM-DDTHH:MM`. */
function formatLocalTime(timeZone: string): string {
  return new Date().toLocaleString('sv-SE', { timeZone }).slice(0, 16).replace(' ', 'T');
}

function filter(key: string, value: string) {
  return { field: `data.${key}`, operator: 'equals', value };
}

async function createDraft(
  { client, run, from }: TourContext,
  { name, filters, ...content }: { name: string; filters: object[] } & Record<string, unknown>,
): Promise<string> {
  const campaign = await client.call('POST', '/campaigns', {
    name: `Tour ${run}, ${name}`,
    subject: 'News for {{firstName}}',
    body: '<p>Dear {{firstName}}, there is news.</p>',
    from,
    audienceType: 'FILTERED',
    audienceFilter: { logic: 'AND', groups: [{ filters }] },
    ...content,
  });
  return unwrapData(campaign).id;
}

async function waitUntilSent(tour: TourContext, id: string) {
  return waitFor(
    'the end of the campaign',
    async () => {
      const { status } = await tour.client.call('GET', `/campaigns/${id}`).then(unwrapData);
      const stats = await fetchStats(tour, id);
      tour.report.progress(`${status}: ${formatNumber(stats.sent)} sent, of ${formatNumber(stats.total)}`);
      return status === 'SENT' && stats;
    },
    LONG_TIMEOUT_MS,
  );
}

function fetchStats({ client }: TourContext, id: string): Promise<{ total: number; sent: number }> {
  return client.call('GET', `/campaigns/${id}/stats`).then(unwrapData);
}

/** Returns the content of a response. Some operations wrap it in the field `data`. */
// biome-ignore lint/suspicious/noExplicitAny: the client of the tour also returns `any`
function unwrapData(response: any): any {
  return response.data ?? response;
}
