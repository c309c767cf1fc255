import { Paper, SimpleGrid, Text, Title, Tooltip } from '@mantine/core';
import { CountLink, formatCount, formatShare } from '../../parts/count-link.tsx';
import { text } from '../../text/text.ts';
import type { Stats } from './words.ts';

const words = text.campaigns;
const COUNTED = ['delivered', 'opened', 'clicked', 'bounced', 'complained', 'unsubscribed'] as const;

/** What came back: each number leads to whom it counts. Machines are apart. */
export function Figures({ id, stats }: { id: string; stats: Stats }) {
  return (
    <section aria-label={words.figures}>
      <Title order={2} size="h4" mb="sm">
        {words.figures}
      </Title>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 7 }} spacing="sm">
        {COUNTED.map((name) => (
          <Tooltip key={name} label={words.countedWhat[name]} multiline maw={260}>
            <Paper withBorder p="sm">
              <Text size="sm" c="dimmed">
                {words.counted[name]}
              </Text>
              <Text fz={24} fw={650} lh={1.3}>
                <CountLink n={stats[name]} href={`/campaigns/${id}/recipients?outcome=${name}`} />
              </Text>
              <Text size="sm" c="dimmed">
                {name === 'bounced'
                  ? `${formatShare(stats.bounced, stats.sent + stats.failed)} ${words.ofTried}`
                  : `${formatShare(stats[name], stats.sent)} ${words.ofSent}`}
              </Text>
            </Paper>
          </Tooltip>
        ))}
        <Tooltip label={words.machinesWhat} multiline maw={260}>
          <Paper withBorder p="sm">
            <Text size="sm" c="dimmed">
              {words.machines}
            </Text>
            <Text lh={1.6}>{words.machineOpens(stats.machineOpens, formatCount(stats.machineOpens))}</Text>
            <Text lh={1.6}>{words.machineClicks(stats.machineClicks, formatCount(stats.machineClicks))}</Text>
          </Paper>
        </Tooltip>
      </SimpleGrid>
    </section>
  );
}
