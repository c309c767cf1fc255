import { Alert, Stack, Text } from '@mantine/core';
import { type BarPart, StackedBar } from '../../parts/bars.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { describeDuration } from '../../parts/format-duration.ts';
import { ExactTime, ScheduledTime } from '../../parts/instant.tsx';
import { text } from '../../text/text.ts';
import { countOutcomes } from './outcomes.ts';
import { useRate } from './use-rate.ts';
import type { Campaign, Stats } from './words.ts';

const words = text.campaigns;
const COLORS = {
  delivered: 'var(--color-accent)',
  underWay: 'var(--chart-2)',
  failed: 'var(--color-failed)',
  skipped: 'var(--color-idle)',
  pending: 'var(--chart-ghost)',
};
/** Parts that a campaign usually lacks, and that are shown only if they have recipients. */
const RARE: ReadonlySet<string> = new Set(['underWay', 'pending']);

/** Progress: a bar of all recipients by outcome, the rate, and the time left. */
export function CampaignProgress({ campaign, stats, atMs }: { campaign: Campaign; stats: Stats; atMs: number }) {
  const { status, nextOpening, pausedReason, testState, testEndsAt } = campaign;
  const { pending } = stats;
  const done = stats.total - pending;
  const rate = useRate({ done, atMs, isMoving: status === 'SENDING' && pending > 0 });
  const parts: BarPart[] = Object.entries(countOutcomes(stats))
    .filter(([name, n]) => n > 0 || !RARE.has(name))
    .map(([name, n]) => ({
      label: words.parts[name as keyof typeof COLORS],
      n,
      color: COLORS[name as keyof typeof COLORS],
    }));
  const isTested = testState && testState !== 'DECIDED';
  return (
    <Stack gap="xs" p="md">
      <StackedBar parts={parts} label={words.progress} whole={`${words.audience} ${formatCount(stats.total)}`} />
      <Text size="sm" c="dimmed" aria-live="polite" className="when-filled">
        {rate !== undefined && rate > 0 && (
          <>
            {words.rate(formatCount(Math.round(rate * 10) / 10))}, {words.left(describeDuration(pending / rate))}
          </>
        )}
      </Text>
      {status === 'PAUSED' && pausedReason && <Alert color="yellow">{words.pausedBecause[pausedReason]}</Alert>}
      {nextOpening && (
        <Text size="sm">
          {words.waitsUntil} <ExactTime at={nextOpening} />.
        </Text>
      )}
      {isTested && (
        <Text size="sm">
          {words.testStates[testState]} {testState === 'WAITING' && <ExactTime at={testEndsAt} />}
        </Text>
      )}
    </Stack>
  );
}

/** When the campaign started and ended, for the header of its page. */
export function SendingTimes({ campaign: { startedAt, sentAt, cancelledAt } }: { campaign: Campaign }) {
  if (!startedAt) return null;
  return (
    <>
      {sentAt ? words.endedAt : words.startedAt} <ScheduledTime at={startedAt} />
      {sentAt && ` ${words.doneIn(describeDuration((Date.parse(sentAt) - Date.parse(startedAt)) / 1000))}`}
      {cancelledAt && (
        <>
          , {words.cancelledAt.toLowerCase()} <ScheduledTime at={cancelledAt} />
        </>
      )}
    </>
  );
}
