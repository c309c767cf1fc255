import { Group, Table, Text, Title } from '@mantine/core';
import { useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { notifySuccess, runAfterWrite } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import { CAMPAIGN_OPERATIONS, type Campaign, type Stats } from './words.ts';

const words = text.campaigns;
type Version = NonNullable<Stats['variants']>[number];

/** Statistics of each variant, which variant leads, and a button that chooses the winner before the test ends. */
export function VersionFigures({ campaign, stats }: { campaign: Campaign; stats: Stats }) {
  const { winnerBy, testState } = campaign;
  const isOpen = testState === 'SENDING' || testState === 'WAITING';
  const verdictOf = ({ name, winner }: Version) => (
    <>
      {winner && (
        <Text size="xs" fw={600} c="green">
          {words.winner}
          {winnerBy && `: ${words.winnerBy[winnerBy]}`}
        </Text>
      )}
      {isOpen && <Choose id={campaign.id} name={name} />}
    </>
  );
  return (
    <section aria-label={words.versionsTitle}>
      <Title order={2} size="h4" mb="xs">
        {words.versionsTitle}
      </Title>
      {stats.comparison && <Text mb="sm">{stats.comparison.sentence}</Text>}
      <Table.ScrollContainer minWidth={320} type="native">
        <Table aria-label={words.versionsTitle}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.version}</Table.Th>
              <Table.Th ta="right">{words.outcomes.sent}</Table.Th>
              <Table.Th ta="right">{words.openRate}</Table.Th>
              <Table.Th ta="right">{words.clickRate}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {(stats.variants ?? []).map((version) => (
              <Table.Tr key={version.name}>
                <Table.Td style={{ overflowWrap: 'anywhere' }} miw={90}>
                  {version.name}
                  {verdictOf(version)}
                </Table.Td>
                <Table.Td ta="right">{formatCount(version.sent)}</Table.Td>
                <Rate n={version.opened} rate={version.openRate} interval={version.openInterval} />
                <Rate n={version.clicked} rate={version.clickRate} interval={version.clickInterval} />
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </section>
  );
}

function Rate({ n, rate, interval }: { n: number; rate: number; interval: Version['openInterval'] }) {
  const percent = (share: number) => `${(100 * share).toFixed(1)}%`;
  return (
    <Table.Td ta="right">
      {formatCount(n)} ({rate.toFixed(1)}%)
      <Text size="xs" c="dimmed">
        {words.interval} {percent(interval.low)} – {percent(interval.high)}
      </Text>
    </Table.Td>
  );
}

function Choose({ id, name }: { id: string; name: string }) {
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
