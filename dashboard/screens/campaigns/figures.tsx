import { Paper, Text, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queryFor } from '../../api/queries.ts';
import { CountLink, formatCount, formatShare, ShareFigure } from '../../parts/count-link.tsx';
import { pluralize } from '../../text/pluralize.ts';
import { text } from '../../text/text.ts';
import { directionOf, formatChange } from '../home/change.tsx';
import { pointsAboveAverage } from './average.ts';
import type { Stats } from './words.ts';

const words = text.campaigns;
/** The campaigns whose average is compared. */
const COMPARED = 20;
/** Room for the sentence on each screen, so that nothing moves when the comparison arrives. */
const NEWS_HEIGHT = { base: 48, sm: 24 };
const COUNTED = ['delivered', 'opened', 'clicked', 'unsubscribed', 'bounced', 'complained'] as const;

/** Statistics of the campaign, and the progress below them. Each number links to its recipients. Automated opens and clicks are separate. */
export function Figures({ id, stats, children }: { id: string; stats: Stats; children: ReactNode }) {
  const bots = [
    words.machineOpens(stats.machineOpens, formatCount(stats.machineOpens)),
    words.machineClicks(stats.machineClicks, formatCount(stats.machineClicks)),
  ];
  return (
    <section aria-label={words.figures}>
      {stats.sent > 0 && (
        <Text size="lg" mb="md" mih={NEWS_HEIGHT}>
          <b>{words.openedShare(formatShare(stats.opened, stats.sent))}</b>
          {words.clickedShare(formatShare(stats.clicked, stats.sent))} <Compared id={id} stats={stats} />
        </Text>
      )}
      <Paper withBorder>
        <div className="stats">
          {COUNTED.map((name) => (
            <Tooltip key={name} label={meaningOf(name, stats)} multiline maw={260}>
              <div>
                <Text size="xs" fw={500} c="dimmed">
                  {words.counted[name]}
                </Text>
                <div className="stats-figure">
                  <ShareFigure part={stats[name]} whole={name === 'bounced' ? stats.sent + stats.failed : stats.sent} />
                </div>
                <Text size="xs" c="dimmed" className="stats-detail">
                  {name === 'delivered' && stats.deliveredBasis !== 'reported' ? (
                    formatCount(stats.delivered)
                  ) : (
                    <CountLink n={stats[name]} href={`/campaigns/${id}/recipients?outcome=${name}`} />
                  )}{' '}
                  {name === 'bounced' ? words.ofTried : words.ofSent(formatCount(stats.sent))}
                </Text>
              </div>
            </Tooltip>
          ))}
        </div>
        {children}
      </Paper>
      <Tooltip label={words.machinesWhat} multiline maw={260}>
        <Text size="xs" c="dimmed" mt="xs" w="fit-content">
          {words.machines}: <span>{bots[0]}</span>, <span>{bots[1]}</span>
        </Text>
      </Tooltip>
    </section>
  );
}

/** Compares the open rate with other campaigns, in a sentence. */
function Compared({ id, stats: { opened, sent } }: { id: string; stats: Stats }) {
  const { data } = useQuery({
    ...queryFor('listCampaigns', { query: { status: 'SENT', limit: COMPARED } }),
    staleTime: 60_000,
  });
  const points = data && pointsAboveAverage({ id, opened, sent }, data.campaigns);
  if (points === undefined) return null;
  const written = formatChange(points);
  return <>{words.comparedToAverage[directionOf(points)](pluralize(Number(written), 'point', written))}</>;
}

function meaningOf(name: (typeof COUNTED)[number], { deliveredBasis }: Stats): string {
  const means = words.countedWhat[name];
  return typeof means === 'string' ? means : means[deliveredBasis];
}
