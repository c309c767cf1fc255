import { Group, Table, Text, Title } from '@mantine/core';
import { useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { AppLink } from '../../parts/app-link.tsx';
import { CountLink, formatCount } from '../../parts/count-link.tsx';
import { tellDone, whenDone } from '../../parts/tell.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { wordOf } from '../../text/words.ts';
import { CAMPAIGN_OPERATIONS, type Campaign, RETRYABLE, type Retryable, type Stats } from './words.ts';

const words = text.campaigns;

/** Recipients without the email, by reason, and a retry for fixable reasons. */
export function Reasons({ campaign, stats }: { campaign: Campaign; stats: Stats }) {
  const { id, status } = campaign;
  const reasons = Object.entries(stats.byReason).sort(([, a], [, b]) => b - a);
  const retryable = RETRYABLE.filter((reason) => (stats.byReason[reason] ?? 0) > 0);
  const isOver = status === 'CANCELLED';
  return (
    <section aria-label={words.reasonsTitle}>
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          {words.reasonsTitle}
        </Title>
        {retryable.length > 0 && !isOver && <Retry id={id} reasons={retryable} />}
      </Group>
      {reasons.length === 0 ? (
        <Text c="dimmed">{stats.pending === 0 ? words.everybodyGot : words.nobodyLost}</Text>
      ) : (
        <Table aria-label={words.reasonsTitle}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.reason}</Table.Th>
              <Table.Th ta="right" style={{ whiteSpace: 'nowrap' }}>
                {text.segments.contacts}
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {reasons.map(([reason, n]) => (
              <Table.Tr key={reason}>
                <Table.Td>
                  <WordBadge kind="reason" value={reason} />
                  <Means reason={reason} />
                </Table.Td>
                <Table.Td ta="right">
                  <CountLink n={n} href={`/campaigns/${id}/recipients?reason=${encodeURIComponent(reason)}`} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </section>
  );
}

/** Screens where the user can fix a reason that does not concern the contact. */
const MENDED_IN: Partial<Record<string, { to: string; place: keyof typeof words.places }>> = {
  limit_reached: { to: '/settings/project', place: 'settings' },
  sender_not_verified: { to: '/settings/domains', place: 'domains' },
};

function Means({ reason }: { reason: string }) {
  const mended = MENDED_IN[reason];
  return (
    <Text size="sm" c="dimmed" component="div">
      {wordOf('reason', reason)?.means}{' '}
      {mended && <AppLink to={mended.to}>{words.mendIn(words.places[mended.place])}</AppLink>}
    </Text>
  );
}

/** Retries the recipients that failed for these reasons. */
export function Retry({ id, reasons }: { id: string; reasons: readonly Retryable[] }) {
  const write = useWrite('retryCampaign', { changes: CAMPAIGN_OPERATIONS });
  return (
    <ActionButton
      needs="campaigns:send"
      size="xs"
      variant="light"
      loading={write.isPending}
      onClick={() =>
        whenDone(write.mutateAsync({ params: { id }, body: { reasons: [...reasons] } }), ({ requeued }) =>
          tellDone(requeued === 0 ? words.retriedNobody : words.retried(requeued, formatCount(requeued))),
        )
      }
    >
      {words.retry}
    </ActionButton>
  );
}
