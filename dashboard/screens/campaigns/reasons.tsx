import { Box, Button, Group, Table, Text, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { AppLink } from '../../parts/app-link.tsx';
import { Breakable } from '../../parts/breakable.tsx';
import { CardSection } from '../../parts/card-section.tsx';
import { CountLink, formatCount } from '../../parts/count-link.tsx';
import { notifySuccess, runAfterWrite } from '../../parts/notifications.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { findWord, getLabel } from '../../text/words.ts';
import { isSkipped } from './outcomes.ts';
import classes from './reasons.module.css';
import { CAMPAIGN_OPERATIONS, type Campaign, RETRYABLE, type Retryable, type Stats } from './words.ts';

const words = text.campaigns;
/** More reasons than these are folded, so that the most frequent ones stand out. */
const SHOWN_MAX = 6;
const TOOLTIP_EVENTS = { hover: true, focus: true, touch: true };

/**
 * Recipients without the email: failed and skipped ones separately, each by reason, and a retry for fixable reasons.
 */
export function Reasons({ campaign, stats }: { campaign: Campaign; stats: Stats }) {
  const { id, status } = campaign;
  const reasons = Object.entries(stats.byReason).sort(([, a], [, b]) => b - a);
  const retryable = RETRYABLE.filter((reason) => (stats.byReason[reason] ?? 0) > 0);
  const isOver = status === 'CANCELLED';
  const failed = reasons.filter(([reason]) => !isSkipped(reason));
  const skipped = reasons.filter(([reason]) => isSkipped(reason));
  return (
    <CardSection
      title={words.reasonsTitle}
      aside={
        retryable.length > 0 &&
        !isOver && (
          <Retry
            id={id}
            reasons={retryable}
            n={retryable.reduce((sum, reason) => sum + (stats.byReason[reason] ?? 0), 0)}
          />
        )
      }
    >
      {reasons.length === 0 && (
        <Text size="sm" c="dimmed" className="card-block">
          {stats.pending === 0 ? words.sentToAll : words.noneSkipped}
        </Text>
      )}
      <ByReason id={id} tone="failed" title={words.parts.failed} reasons={failed} />
      <ByReason id={id} tone="idle" title={words.parts.skipped} reasons={skipped} />
      {skipped.length > 0 && (
        <Text size="xs" c="dimmed" className="card-block">
          {words.skippedNote}
        </Text>
      )}
    </CardSection>
  );
}

/** The reasons of one kind with their numbers. A bar shows the share of a reason. */
function ByReason({
  id,
  tone,
  title,
  reasons,
}: {
  id: string;
  tone: 'failed' | 'idle';
  title: string;
  reasons: [reason: string, n: number][];
}) {
  const [isUnfolded, { open: unfold }] = useDisclosure();
  if (reasons.length === 0) return null;
  const total = reasons.reduce((sum, [, n]) => sum + n, 0);
  const visibleReasons = isUnfolded || reasons.length <= SHOWN_MAX + 1 ? reasons : reasons.slice(0, SHOWN_MAX);
  const folded = reasons.length - visibleReasons.length;
  return (
    <Box className="card-block">
      <Group justify="space-between" mb={4}>
        <Status tone={tone}>{title}</Status>
        <Text size="sm" fw={500}>
          {formatCount(total)}
        </Text>
      </Group>
      <Table aria-label={title} withRowBorders={false} className={classes.reasons}>
        <Table.Tbody>
          {visibleReasons.map(([reason, n]) => (
            <Table.Tr key={reason}>
              <Table.Td>
                <Reason reason={reason} />
              </Table.Td>
              <Table.Td w={88}>
                <div className={classes.bar} aria-hidden>
                  <div data-tone={tone} style={{ width: `${(100 * n) / total}%` }} />
                </div>
              </Table.Td>
              <Table.Td ta="right" w={56}>
                <CountLink n={n} href={`/campaigns/${id}/recipients?reason=${encodeURIComponent(reason)}`} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {folded > 0 && (
        <Button variant="subtle" size="compact-sm" mt={4} ml={-8} onClick={unfold}>
          {words.moreReasons(folded)}
        </Button>
      )}
    </Box>
  );
}

/** The screens where a user can fix a reason that does not concern the contact. */
const FIX_SCREENS: Partial<Record<string, { to: string; place: keyof typeof words.places }>> = {
  limit_reached: { to: '/settings/project', place: 'settings' },
  sender_not_verified: { to: '/settings/domains', place: 'domains' },
};

function Reason({ reason }: { reason: string }) {
  const fix = FIX_SCREENS[reason];
  return (
    <Tooltip label={findWord('reason', reason)?.means} multiline maw={280} events={TOOLTIP_EVENTS}>
      <Text size="sm" component="span" tabIndex={0}>
        <Breakable text={getLabel('reason', reason)} />{' '}
        {fix && (
          <AppLink to={fix.to} className={classes.fix}>
            {words.fixIn(words.places[fix.place])}
          </AppLink>
        )}
      </Text>
    </Tooltip>
  );
}

/** Retries the recipients that failed for these reasons: `n` of them, if the number is known. */
export function Retry({ id, reasons, n }: { id: string; reasons: readonly Retryable[]; n?: number }) {
  const write = useWrite('retryCampaign', { changes: CAMPAIGN_OPERATIONS });
  return (
    <ActionButton
      needs="campaigns:send"
      size="compact-sm"
      variant="default"
      loading={write.isPending}
      onClick={() =>
        runAfterWrite(write.mutateAsync({ params: { id }, body: { reasons: [...reasons] } }), ({ requeued }) =>
          notifySuccess(requeued === 0 ? words.noneToRetry : words.retried(requeued, formatCount(requeued))),
        )
      }
    >
      {words.retry(n)}
    </ActionButton>
  );
}
