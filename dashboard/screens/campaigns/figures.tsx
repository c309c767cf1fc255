import { Paper, Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { CountLink, formatCount, formatShare, ShareFigure } from '../../parts/count-link.tsx';
import { pluralize } from '../../text/pluralize.ts';
import { text } from '../../text/text.ts';
import { formatChange, getDirection } from '../home/change.tsx';
import { compareOpenRateToAverage } from './average.ts';
import type { Stats } from './words.ts';

const words = text.campaigns;
/** The maximum number of sent campaigns in the average. */
const COMPARED_MAX = 20;
/** With fewer emails, the sentence counts contacts, because one contact would be several percent. */
const SHARES_MIN_SENT = 20;
const STATISTICS = ['delivered', 'opened', 'clicked', 'unsubscribed', 'bounced', 'complained'] as const;

/** The campaigns whose open rates are compared with this one's. */
export const COMPARED_CAMPAIGNS = {
  ...queryFor('listCampaigns', { query: { status: 'SENT', limit: COMPARED_MAX } }),
  staleTime: 60_000,
};
type ComparedCampaigns = ResponseOf<'listCampaigns'>['campaigns'];

/**
 * Statistics of the campaign, and the progress below them. Each number links to its recipients, except a number of
 * deliveries that the provider did not report. Automated opens and clicks are separate.
 */
export function Figures({
  id,
  stats,
  compared,
  children,
}: {
  id: string;
  stats: Stats;
  compared: ComparedCampaigns;
  children: ReactNode;
}) {
  const bots = [
    words.botOpens(stats.machineOpens, formatCount(stats.machineOpens)),
    words.botClicks(stats.machineClicks, formatCount(stats.machineClicks)),
  ];
  return (
    <section aria-label={words.figures}>
      {stats.sent > 0 && (
        <Text size="lg" mb="md">
          <ResultSentence stats={stats} /> <Comparison id={id} stats={stats} campaigns={compared} />
        </Text>
      )}
      <Paper withBorder>
        <div className="stats">
          {STATISTICS.map((name) => (
            <Tooltip key={name} label={getMeaning(name, stats)} multiline maw={260}>
              <div>
                <Text size="xs" fw={500} c="dimmed">
                  {words.counted[name]}
                </Text>
                <div className="stats-figure">
                  <ShareFigure part={stats[name]} whole={getDenominator(name, stats)} />
                </div>
                <Text size="xs" c="dimmed" className="stats-detail">
                  {name === 'delivered' && stats.deliveredBasis !== 'reported' ? (
                    formatCount(stats.delivered)
                  ) : (
                    <CountLink n={stats[name]} href={`/campaigns/${id}/recipients?outcome=${name}`} />
                  )}{' '}
                  {describeBase(name, stats)}
                </Text>
              </div>
            </Tooltip>
          ))}
        </div>
        {children}
        {stats.machineOpens + stats.machineClicks > 0 && (
          <div className="card-row card-foot">
            <Tooltip label={words.botsHelp} multiline maw={260}>
              <Text size="xs" c="dimmed">
                {words.botsExcluded} <span>{bots[0]}</span>, <span>{bots[1]}</span>
              </Text>
            </Tooltip>
          </div>
        )}
      </Paper>
    </section>
  );
}

/** Returns the number of which a statistic is a share. Bounces are a share of all attempts, including refused ones. */
function getDenominator(name: (typeof STATISTICS)[number], { sent, failed }: Stats): number {
  return name === 'bounced' ? sent + failed : sent;
}

/** Names the base of a statistic. The first statistic names the sent emails, the base of all others except bounces. */
function describeBase(name: (typeof STATISTICS)[number], stats: Stats): string | undefined {
  const written = formatCount(getDenominator(name, stats));
  if (name === 'bounced') return words.ofAttempts(written);
  return name === 'delivered' ? words.ofSent(written) : undefined;
}

/** Shows the result in one sentence: percentages, or numbers of contacts if there are few. */
function ResultSentence({ stats: { sent, opened, clicked, pending } }: { stats: Stats }) {
  if (opened + clicked === 0) {
    return (
      <>
        <b>{words.sentTo(sent, formatCount(sent))}</b>
        {words.noneOpened}
      </>
    );
  }
  const isFew = sent < SHARES_MIN_SENT;
  return (
    <>
      <b>{isFew ? words.openedCount(opened, sent) : words.openedShare(formatShare(opened, sent))}</b>
      {isFew ? words.clickedCount(clicked) : words.clickedShare(formatShare(clicked, sent))}
      {pending > 0 ? words.soFar : '.'}
    </>
  );
}

/** Compares the open rate with other campaigns, in a sentence. */
function Comparison({
  id,
  stats: { opened, sent },
  campaigns,
}: {
  id: string;
  stats: Stats;
  campaigns: ComparedCampaigns;
}) {
  if (sent < SHARES_MIN_SENT || opened === 0) return null;
  const points = compareOpenRateToAverage({ id, opened, sent }, campaigns);
  if (points === undefined) return null;
  const written = formatChange(points);
  return <>{words.comparedToAverage[getDirection(points)](pluralize(Number(written), 'point', written))}</>;
}

function getMeaning(name: (typeof STATISTICS)[number], { deliveredBasis }: Stats): string {
  const means = words.countedHelp[name];
  return typeof means === 'string' ? means : means[deliveredBasis];
}
