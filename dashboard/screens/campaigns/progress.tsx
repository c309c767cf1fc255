import { Alert, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { AppLink } from '../../parts/app-link.tsx';
import { type BarPart, StackedBar } from '../../parts/bars.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { ExactTime } from '../../parts/instant.tsx';
import { text } from '../../text/text.ts';
import { spokenDuration } from './duration.ts';
import { useRate } from './use-rate.ts';
import type { Campaign, Stats } from './words.ts';

const words = text.campaigns;
const COLORS = {
  sent: 'var(--color-accent)',
  failed: 'var(--color-failed)',
  skipped: 'var(--color-idle)',
  pending: 'var(--chart-2)',
};

/** Progress: a bar of all recipients, the rate, and the time left. */
export function CampaignProgress({ campaign, stats, atMs }: { campaign: Campaign; stats: Stats; atMs: number }) {
  const { id, status, nextOpening, pausedReason, testState, testEndsAt } = campaign;
  const { pending } = stats;
  const done = stats.total - pending;
  const rate = useRate({ done, atMs, isMoving: status === 'SENDING' && pending > 0 });
  const parts: BarPart[] = (['sent', 'failed', 'skipped', 'pending'] as const).map((name) => ({
    label: words.parts[name],
    n: stats[name],
    color: COLORS[name],
  }));
  return (
    <Paper withBorder p="md">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          {words.progress}
        </Title>
        <Text c="dimmed" aria-live="polite">
          {rate !== undefined && rate > 0 && (
            <>
              {words.rate(formatCount(Math.round(rate * 10) / 10))}, {words.left(spokenDuration(pending / rate))}
            </>
          )}
        </Text>
      </Group>
      <StackedBar parts={parts} label={words.progress} />
      <Stack gap={4} mt="sm">
        {status === 'PAUSED' && pausedReason && <Alert color="yellow">{words.pausedBecause[pausedReason]}</Alert>}
        {nextOpening && (
          <Text>
            {words.waitsUntil} <ExactTime at={nextOpening} />.
          </Text>
        )}
        {testState && testState !== 'DECIDED' && (
          <Text>
            {words.testStates[testState]} {testState === 'WAITING' && <ExactTime at={testEndsAt} />}
          </Text>
        )}
        <Text size="sm" c="dimmed">
          <Times campaign={campaign} />
        </Text>
        <AppLink to={`/campaigns/${id}/recipients`} size="sm">
          {words.toRecipients}
        </AppLink>
      </Stack>
    </Paper>
  );
}

function Times({ campaign: { startedAt, sentAt, cancelledAt } }: { campaign: Campaign }) {
  const ended = sentAt ?? cancelledAt;
  return (
    <>
      {words.startedAt} <ExactTime at={startedAt} />
      {ended && (
        <>
          , {sentAt ? words.endedAt.toLowerCase() : words.cancelledAt.toLowerCase()} <ExactTime at={ended} />
          {startedAt &&
            sentAt &&
            ` (${words.doneIn(spokenDuration((Date.parse(sentAt) - Date.parse(startedAt)) / 1000))})`}
        </>
      )}
      .
    </>
  );
}
