import { Button, Group, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { getOperationUrl } from '../../api/client.ts';
import { type ItemOf, infiniteQueryFor, queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { EmailStatus } from '../../parts/email-status.tsx';
import { listWordChoices, SelectFilter } from '../../parts/filters.tsx';
import { Instant } from '../../parts/instant.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { ReasonText } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { getLabel } from '../../text/words.ts';
import { BACK_TO_CAMPAIGNS, CampaignHead } from './campaign-head.tsx';
import { CampaignTabs } from './campaign-tabs.tsx';
import { isSkipped } from './outcomes.ts';
import { Retry } from './reasons.tsx';
import type { RecipientSearch } from './routes.ts';
import { type Campaign, isSending, OUTCOMES, RETRYABLE } from './words.ts';

type Recipient = ItemOf<'listCampaignRecipients'>;

const words = text.campaigns;
const PAGE = 50;

/** The recipients with their results. The filters are in the URL. */
export function Recipients() {
  const { campaignId: id } = useParams({ from: '/shell/campaigns/$campaignId/recipients' });
  const filter = useSearch({ from: '/shell/campaigns/$campaignId/recipients' });
  const campaign = useQuery(queryFor('getCampaign', { params: { id } }));
  const moves = campaign.data !== undefined && isSending(campaign.data.status);
  const pages = useInfiniteQuery({
    ...infiniteQueryFor('listCampaignRecipients', { params: { id }, query: { limit: PAGE, ...filter } }),
    // Refreshing stops once later pages are loaded, so that rows do not move while the user reads.
    refetchInterval: ({ state }) => (moves && (state.data?.pages.length ?? 0) < 2 ? 2_000 : false),
  });
  const isFiltered = Object.keys(filter).length > 0;
  const actions = <Actions id={id} filter={filter} campaign={campaign.data} />;
  return (
    <>
      {campaign.data ? <CampaignHead campaign={campaign.data} actions={actions} /> : <PendingHead actions={actions} />}
      <CampaignTabs id={id} active="recipients" total={campaign.data?.totalRecipients} />
      <Filters id={id} filter={filter} />
      <CursorTable
        pages={pages}
        columns={campaign.data?.variants ? COLUMNS : COLUMNS_WITHOUT_VARIANT}
        rowKey={({ emailId }) => emailId}
        caption={words.recipientsCaption}
        empty={<Text c="dimmed">{isFiltered ? words.noneFound : words.noneYet}</Text>}
      />
    </>
  );
}

/** The header while the campaign loads. Its empty second line keeps the tabs in place. */
function PendingHead({ actions }: { actions: ReactNode }) {
  return <PageHead title={words.recipients} back={BACK_TO_CAMPAIGNS} subtitle={<br />} actions={actions} />;
}

function Actions({ id, filter, campaign }: { id: string; filter: RecipientSearch; campaign: Campaign | undefined }) {
  const retryable = RETRYABLE.filter((reason) => filter.reason?.split(',').includes(reason));
  return (
    <>
      {retryable.length > 0 && campaign && campaign.status !== 'CANCELLED' && <Retry id={id} reasons={retryable} />}
      <Button
        component="a"
        variant="default"
        href={getOperationUrl('listCampaignRecipients', { params: { id }, query: { ...filter, format: 'csv' } })}
        download
        leftSection={<IconDownload size={16} aria-hidden />}
      >
        {words.csv}
      </Button>
    </>
  );
}

function Filters({ id, filter }: { id: string; filter: RecipientSearch }) {
  const navigate = useNavigate();
  const stats = useQuery(queryFor('getCampaignStats', { params: { id } }));
  const set = (part: Partial<Record<keyof RecipientSearch, string | undefined>>) =>
    void navigate({
      to: '/campaigns/$campaignId/recipients',
      params: { campaignId: id },
      search: { ...filter, ...part } as RecipientSearch,
      replace: true,
    });
  const reasons = [...new Set([...Object.keys(stats.data?.byReason ?? {}), ...(filter.reason ? [filter.reason] : [])])];
  return (
    <Group mb="md" gap="xs" align="flex-end">
      <SearchField
        label={words.search}
        placeholder={words.search}
        value={filter.search}
        onChange={(search) => set({ search })}
      />
      <SelectFilter
        label={words.outcome}
        any={words.anyOutcome}
        value={filter.outcome}
        choices={OUTCOMES.map((value) => ({ value, label: words.outcomes[value] }))}
        onChange={(outcome) => set({ outcome })}
      />
      <SelectFilter
        label={words.reason}
        any={words.anyReason}
        value={filter.reason}
        choices={listWordChoices('reason', reasons)}
        onChange={(reason) => set({ reason })}
        maw={220}
      />
    </Group>
  );
}

const COLUMNS: Column<Recipient>[] = [
  {
    name: words.address,
    isMain: true,
    cell: ({ contactId, email }) =>
      contactId === null ? (
        <Text c="dimmed">{words.deletedContact}</Text>
      ) : (
        <AppLink to={`/contacts/${contactId}`}>{email ?? '–'}</AppLink>
      ),
  },
  {
    name: words.columns.status,
    width: 130,
    cell: ({ status, reason, notBefore }) => (
      <>
        <EmailStatus status={status} reason={reason} isSkipped={reason !== null && isSkipped(reason)} />
        {reason && (
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            {getLabel('reason', reason)}
          </Text>
        )}
        {notBefore && (
          <Text size="xs" c="dimmed">
            <Instant at={notBefore} />
          </Text>
        )}
      </>
    ),
  },
  {
    name: words.reason,
    wideOnly: true,
    cell: ({ reason, error }) => (
      <>
        <ReasonText value={reason} />
        {error && (
          <Text size="sm" c="dimmed" lineClamp={3} title={error}>
            {error}
          </Text>
        )}
      </>
    ),
  },
  { name: words.variant, width: 100, wideOnly: true, cell: ({ variant }) => variant ?? '' },
  {
    name: words.last,
    width: 120,
    wideOnly: true,
    cell: ({ unsubscribedAt, bouncedAt, clickedAt, openedAt, deliveredAt, sentAt }) => (
      <Instant at={unsubscribedAt ?? bouncedAt ?? clickedAt ?? openedAt ?? deliveredAt ?? sentAt} />
    ),
  },
  {
    name: words.email,
    hidesName: true,
    align: 'right',
    width: 100,
    wideOnly: true,
    cell: ({ emailId, attempts }) =>
      attempts === 0 ? '' : <AppLink to={`/messages/${emailId}`}>{words.viewEmail}</AppLink>,
  },
];
const COLUMNS_WITHOUT_VARIANT = COLUMNS.filter(({ name }) => name !== words.variant);
