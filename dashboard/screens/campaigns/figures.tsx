import { Paper, Text, Title, Tooltip } from '@mantine/core';
import { CountLink, formatCount, formatShare } from '../../parts/count-link.tsx';
import { text } from '../../text/text.ts';
import type { Stats } from './words.ts';

const words = text.campaigns;
const COUNTED = ['delivered', 'opened', 'clicked', 'bounced', 'complained', 'unsubscribed'] as const;

/** Statistics of the campaign. Each number links to its recipients. Automated opens and clicks are separate. */
export function Figures({ id, stats }: { id: string; stats: Stats }) {
  return (
    <section aria-label={words.figures}>
      <Title order={2} size="h4" mb="sm">
        {words.figures}
      </Title>
      <Paper withBorder className="stats">
        {COUNTED.map((name) => (
          <Tooltip key={name} label={meaningOf(name, stats)} multiline maw={260}>
            <div>
              <Text size="xs" fw={500} c="dimmed">
                {words.counted[name]}
              </Text>
              <div className="stats-figure">
                {name === 'delivered' && stats.deliveredBasis !== 'reported' ? (
                  formatCount(stats.delivered)
                ) : (
                  <CountLink n={stats[name]} href={`/campaigns/${id}/recipients?outcome=${name}`} />
                )}
              </div>
              <Text size="xs" c="dimmed">
                {name === 'bounced'
                  ? `${formatShare(stats.bounced, stats.sent + stats.failed)} ${words.ofTried}`
                  : `${formatShare(stats[name], stats.sent)} ${words.ofSent}`}
              </Text>
            </div>
          </Tooltip>
        ))}
        <Tooltip label={words.machinesWhat} multiline maw={260}>
          <div>
            <Text size="xs" fw={500} c="dimmed">
              {words.machines}
            </Text>
            <Text size="sm">{words.machineOpens(stats.machineOpens, formatCount(stats.machineOpens))}</Text>
            <Text size="sm">{words.machineClicks(stats.machineClicks, formatCount(stats.machineClicks))}</Text>
          </div>
        </Tooltip>
      </Paper>
    </section>
  );
}

function meaningOf(name: (typeof COUNTED)[number], { deliveredBasis }: Stats): string {
  const means = words.countedWhat[name];
  return typeof means === 'string' ? means : means[deliveredBasis];
}
