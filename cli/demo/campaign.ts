import { LONG_TIMEOUT_MS, waitFor } from './client.ts';
import type { TourContext } from './execution.ts';
import { formatNumber, formatTimeSince } from './report.ts';

export const CONTACTS = 5_000;
export const PLANS = ['free', 'team', 'pro'];
/** The number of contacts on a paid plan: two of every three contacts. */
const PAYING_CONTACTS = Math.floor((CONTACTS * 2) / 3);

/** Imports `CONTACTS` contacts from a CSV file, and checks how many were created. */
export async function demonstrateImport({ client, report, run, toDomain }: TourContext): Promise<void> {
  const startedAt = performance.now();
  const rows = Array.from({ length: CONTACTS }, (_, i) => `c${i}@${toDomain},Name${i},${PLANS[i % 3]},${run}`);
  const file = new File([`email,firstName,plan,tour\n${rows.join('\n')}\n`], 'contacts.csv', { type: 'text/csv' });
  const { jobId } = await client.upload('/contacts/import?types=string', file);
  const job = await waitFor(
    'the end of the import',
    async () => {
      const now = await client.call('GET', `/contacts/import/${jobId}`);
      report.progress(`${formatNumber(now.processed)} of ${formatNumber(CONTACTS)} rows`);
      return now.completedAt ? now : undefined;
    },
    LONG_TIMEOUT_MS,
  );
  report.line(`${job.status} after ${formatTimeSince(startedAt)}`);
  report.check('contacts created', job.result?.createdCount ?? 0, CONTACTS);
}

/**
 * Creates a segment with a condition on two fields, and unsubscribes one of its contacts. This contact stays in the
 * segment, but does not get the campaign to the segment.
 * @returns the id of the segment
 */
export async function demonstrateSegment({ client, report, run, toDomain }: TourContext): Promise<string> {
  const filters = [
    { field: 'data.tour', operator: 'equals', value: run },
    { field: 'data.plan', operator: 'in', value: ['team', 'pro'] },
  ];
  const startedAt = performance.now();
  const segment = await client.call('POST', '/segments', {
    name: `Tour ${run}, paying`,
    condition: { logic: 'AND', groups: [{ filters }] },
  });
  report.line(`data.tour is "${run}" and data.plan is team or pro: counted in ${formatTimeSince(startedAt)}`);
  report.check('members', segment.memberCount, PAYING_CONTACTS);
  const unsubscribedContact = await client.call('POST', '/contacts', { email: `c1@${toDomain}`, subscribed: false });
  report.line(`${unsubscribedContact.email} unsubscribes`);
  return segment.id;
}

/**
 * Sends a campaign to a segment and shows its progress.
 * @returns the number of emails that must arrive
 */
export async function demonstrateCampaign(
  { client, report, run, from }: TourContext,
  segmentId: string,
): Promise<number> {
  const { data: campaign } = await client.call('POST', '/campaigns', {
    name: `Tour ${run}`,
    subject: 'News for {{firstName}}',
    body: '<p>Dear {{firstName}}, you are on our {{plan}} plan.</p><p><a href="https://example.com/news">Read on</a></p>',
    from,
    audienceType: 'SEGMENT',
    segmentId,
  });
  const startedAt = performance.now();
  await client.call('POST', `/campaigns/${campaign.id}/send`, {});
  const sent = await waitFor(
    'the end of the campaign',
    async () => {
      const { status } = await client.call('GET', `/campaigns/${campaign.id}`).then((got) => got.data ?? got);
      const stats = await client.call('GET', `/campaigns/${campaign.id}/stats`).then((got) => got.data ?? got);
      report.progress(
        `${status}: ${formatNumber(stats.sent)} sent, ${formatNumber(stats.pending)} to go, of ${formatNumber(stats.total)}`,
      );
      return status === 'SENT' ? stats : undefined;
    },
    LONG_TIMEOUT_MS,
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  report.line(
    `SENT after ${formatTimeSince(startedAt)}: ${formatNumber(Math.round(sent.sent / seconds))} emails per second`,
  );
  report.check('sent, by the counters of the campaign', sent.sent, PAYING_CONTACTS - 1);
  return PAYING_CONTACTS - 1;
}
