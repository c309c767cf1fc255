import { Group, Table, Text } from '@mantine/core';
import { useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CardSection } from '../../parts/card-section.tsx';
import { formatCount, formatShare } from '../../parts/count-link.tsx';
import { notifySuccess, runAfterWrite } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import { CAMPAIGN_OPERATIONS, type Campaign, type Stats } from './words.ts';

const words = text.campaigns;
type VariantStats = NonNullable<Stats['variants']>[number];

/** Statistics of each variant, which variant leads, and a button that chooses the winner before the test ends. */
export function VariantStatistics({ campaign, stats }: { campaign: Campaign; stats: Stats }) {
  const { winnerBy, testState } = campaign;
  const isOpen = testState === 'SENDING' || testState === 'WAITING';
  const verdictOf = ({ name, winner }: VariantStats) => (
    <>
      {winner && (
        <Text size="xs" fw={600} c="green">
          {words.winner}
          {winnerBy && `, ${words.winnerBy[winnerBy]}`}
        </Text>
      )}
      {isOpen && <ChooseWinner id={campaign.id} name={name} />}
    </>
  );
  return (
    <CardSection title={words.variantsTitle}>
      {stats.comparison && (
        <Text size="sm" className="card-block">
          {describeComparison(stats.comparison)}
        </Text>
      )}
      <Table.ScrollContainer minWidth={320} type="native" px="xs" pb="xs">
        <Table aria-label={words.variantsTitle}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.variant}</Table.Th>
              <Table.Th ta="right">{words.outcomes.sent}</Table.Th>
              {[words.openRate, words.clickRate].map((rate) => (
                <Table.Th key={rate} ta="right">
                  {rate}
                  <Text fz={11} c="dimmed">
                    {words.intervalTitle}
                  </Text>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {(stats.variants ?? []).map((variant) => (
              <Table.Tr key={variant.name}>
                <Table.Td style={{ overflowWrap: 'anywhere' }} miw={90}>
                  {variant.name}
                  {verdictOf(variant)}
                </Table.Td>
                <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
                  {formatCount(variant.sent)}
                </Table.Td>
                <Rate n={variant.opened} of={variant.sent} interval={variant.openInterval} />
                <Rate n={variant.clicked} of={variant.sent} interval={variant.clickInterval} />
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </CardSection>
  );
}

/** Says which variant is better, or that the difference may be chance. */
function describeComparison({ leader, significant }: NonNullable<Stats['comparison']>): string {
  if (leader === null) return words.verdict.equal;
  return significant ? words.verdict.better(leader) : words.verdict.ahead(leader);
}

/** Shows a rate in percent, with the number of contacts and the confidence interval. */
function Rate({ n, of, interval: { low, high } }: { n: number; of: number; interval: VariantStats['openInterval'] }) {
  return (
    <Table.Td ta="right">
      {formatCount(n)} ({formatShare(n, of)})
      <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {words.interval(formatShare(low, 1), formatShare(high, 1))}
      </Text>
    </Table.Td>
  );
}

function ChooseWinner({ id, name }: { id: string; name: string }) {
  const write = useWrite('chooseCampaignWinner', { changes: CAMPAIGN_OPERATIONS });
  return (
    <Group mt={4}>
      <ActionButton
        needs="campaigns:send"
        size="xs"
        variant="default"
        loading={write.isPending}
        onClick={() =>
          runAfterWrite(write.mutateAsync({ params: { id }, body: { variant: name } }), () =>
            notifySuccess(words.winnerChosen(name)),
          )
        }
      >
        {words.chooseWinner}
      </ActionButton>
    </Group>
  );
}
