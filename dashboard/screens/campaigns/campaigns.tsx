import { Anchor, Box, Text } from '@mantine/core';
import { IconPlus, IconSpeakerphone } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { type ItemOf, infiniteQueryFor } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CountLink, formatShare } from '../../parts/count-link.tsx';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant, ScheduledTime } from '../../parts/instant.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { withoutLiquid } from '../../parts/without-liquid.ts';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { useSegments } from './choices.ts';
import { CAMPAIGN_STATUSES, type CampaignStatus, isSending } from './words.ts';

type ListedCampaign = ItemOf<'listCampaigns'>;
type Pages = { pages: ResponseOf<'listCampaigns'>[] };

const words = text.campaigns;
const PAGE = 20;
const POLL_MS = 2_000;
const EXAMPLE = {
  name: 'November news',
  subject: 'News for {{firstName ?? you}}',
  body: '<p>Hello {{firstName ?? there}}</p>',
  from: 'news@example.com',
  audienceType: 'ALL',
};

/** All campaigns, by status and name: both are in the URL. */
export function Campaigns() {
  const { status, search } = useSearch({ from: '/shell/campaigns' });
  const navigate = useNavigate();
  const pages = useInfiniteQuery({
    ...infiniteQueryFor('listCampaigns', {
      query: { limit: PAGE, ...(status && { status }), ...(search && { search }) },
    }),
    select: ({ pages: read, ...rest }) => ({
      ...rest,
      pages: read.map(({ campaigns, total }) => ({ data: campaigns, total })),
    }),
    refetchInterval: ({ state }) => (hasCampaignInProgress(state.data as Pages | undefined) ? POLL_MS : false),
  });
  const show = (filters: { status: CampaignStatus | undefined; search: string | undefined }) => {
    const urlSearch = {
      ...(filters.status && { status: filters.status }),
      ...(filters.search && { search: filters.search }),
    };
    void navigate({ to: '/campaigns', search: urlSearch, replace: true });
  };
  return (
    <>
      <PageHead title={words.title} count={pages.data?.pages[0]?.total || undefined} actions={<NewCampaign />} />
      <nav aria-label={words.byStatus} className="nav-tabs">
        {[undefined, ...CAMPAIGN_STATUSES].map((value) => (
          <Link
            key={value ?? ''}
            to="/campaigns"
            search={{ ...(value && { status: value }), ...(search && { search }) }}
            replace
            activeOptions={{ exact: true }}
            aria-current={value === status ? 'page' : undefined}
          >
            {value ? words.statuses[value] : words.all}
          </Link>
        ))}
      </nav>
      <Box mb="md">
        <SearchField
          label={words.searchName}
          placeholder={words.searchHint}
          value={search}
          onChange={(next) => show({ status, search: next })}
        />
      </Box>
      <CursorTable
        pages={pages}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        caption={words.caption}
        empty={
          search ? (
            <NoCampaigns what={words.noCampaignsFound} />
          ) : status ? (
            <NoCampaigns what={words.emptyOf(words.statuses[status])} />
          ) : (
            <NoCampaignsYet />
          )
        }
      />
    </>
  );
}

function hasCampaignInProgress(data: Pages | undefined): boolean {
  return data?.pages.some(({ campaigns }) => campaigns.some((one) => isSending(one.status))) ?? false;
}

const COLUMNS: Column<ListedCampaign>[] = [
  {
    name: words.columns.name,
    isMain: true,
    cell: ({ id, name, subject, status }) => (
      <div className="name-cell">
        <Anchor
          inherit
          renderRoot={(props) => (
            <Link
              {...props}
              to={status === 'DRAFT' ? '/campaigns/$campaignId/edit' : '/campaigns/$campaignId'}
              params={{ campaignId: id }}
            />
          )}
          truncate
        >
          {name}
        </Anchor>
        <Text span inherit c="dimmed" truncate>
          {withoutLiquid(subject)}
        </Text>
      </div>
    ),
  },
  {
    name: words.columns.status,
    width: 110,
    cell: (campaign) => (
      <>
        <WordBadge kind="campaign" value={campaign.status} />
        {/* A phone has no column for the time. */}
        <Text size="xs" c="dimmed" hiddenFrom="sm" className="when">
          <CampaignTime {...campaign} />
        </Text>
      </>
    ),
  },
  {
    name: words.columns.audience,
    width: 130,
    wideOnly: true,
    cell: (campaign) => <AudienceCell {...campaign} />,
  },
  {
    name: words.columns.recipients,
    width: 90,
    align: 'right',
    wideOnly: true,
    cell: ({ id, totalRecipients, startedAt }) =>
      startedAt === null ? '–' : <CountLink n={totalRecipients} href={`/campaigns/${id}/recipients`} />,
  },
  {
    name: words.columns.sent,
    width: 76,
    align: 'right',
    wideOnly: true,
    cell: ({ id, sentCount, startedAt }) =>
      startedAt === null ? '–' : <CountLink n={sentCount} href={`/campaigns/${id}/recipients?outcome=sent`} />,
  },
  {
    name: words.columns.opened,
    width: 76,
    align: 'right',
    wideOnly: true,
    cell: ({ openedCount, sentCount }) => formatShare(openedCount, sentCount),
  },
  {
    name: words.columns.when,
    width: 160,
    wideOnly: true,
    cell: (campaign) => <CampaignTime {...campaign} />,
  },
];

/** The audience: a segment by its name, or its kind. */
function AudienceCell({ audienceType, segmentId }: ListedCampaign) {
  const segment = useSegments(audienceType === 'SEGMENT').find(({ id }) => id === segmentId);
  const name = segment?.name ?? words.audienceTypes[audienceType];
  return (
    <Text inherit lineClamp={1} title={name}>
      {name}
    </Text>
  );
}

function CampaignTime({ status, sentAt, startedAt, scheduledAt, updatedAt }: ItemOf<'listCampaigns'>) {
  if (status === 'SCHEDULED') return <ScheduledTime at={scheduledAt} />;
  return <Instant at={sentAt ?? startedAt ?? updatedAt} />;
}

function NewCampaign() {
  const navigate = useNavigate();
  return (
    <ActionButton
      needs="campaigns:edit"
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => void navigate({ to: '/campaigns/new' })}
    >
      {words.createNew}
    </ActionButton>
  );
}

function NoCampaigns({ what }: { what: string }) {
  return (
    <Text c="dimmed">
      {what}{' '}
      <Anchor underline="always" renderRoot={(props) => <Link {...props} to="/campaigns" />}>
        {words.showAll}
      </Anchor>
    </Text>
  );
}

function NoCampaignsYet() {
  return (
    <Empty
      icon={IconSpeakerphone}
      title={words.emptyTitle}
      what={words.emptyHelp}
      action={<NewCampaign />}
      curl={{ method: 'POST', path: '/v1/campaigns', body: EXAMPLE }}
    />
  );
}
