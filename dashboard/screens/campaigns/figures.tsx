import { Paper, Text, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { CountLink, formatCount, formatShare, ShareFigure } from '../../parts/count-link.tsx';
import { text } from '../../text/text.ts';
import type { Stats } from './words.ts';

const words = text.campaigns;
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
        <Text size="lg" mb="md">
          <b>{words.openedShare(formatShare(stats.opened, stats.sent))}</b>
          {words.clickedShare(formatShare(stats.clicked, stats.sent))}
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

function meaningOf(name: (typeof COUNTED)[number], { deliveredBasis }: Stats): string {
  const means = words.countedWhat[name];
  return typeof means === 'string' ? means : means[deliveredBasis];
}
