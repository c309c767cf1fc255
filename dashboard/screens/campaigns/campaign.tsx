import { Box, Grid, Paper, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate, useNavigate, useParams } from '@tanstack/react-router';
import { queryFor } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { GrayCard, GrayColumns, GrayStats, GrayTabs } from '../../parts/gray-parts.tsx';
import { ScheduledTime } from '../../parts/instant.tsx';
import { Placeholder } from '../../parts/loading.tsx';
import { GrayLine, GrayLines } from '../../parts/pending-lines.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { RecordQuery } from '../../parts/record-query.tsx';
import { text } from '../../text/text.ts';
import { BACK_TO_CAMPAIGNS, CampaignHead } from './campaign-head.tsx';
import { CampaignMenu, DuplicateButton } from './campaign-menu.tsx';
import { CampaignTabs } from './campaign-tabs.tsx';
import { CampaignControls } from './controls.tsx';
import { COMPARED_CAMPAIGNS, Figures } from './figures.tsx';
import { Hours } from './hours.tsx';
import { Links } from './links.tsx';
import { CampaignProgress } from './progress.tsx';
import { Reasons } from './reasons.tsx';
import { VariantStatistics } from './variant-statistics.tsx';
import { type Campaign, isSending } from './words.ts';

const words = text.campaigns;
/** The height in pixels of the chart with its legend, and of the link that shows it as a table. */
const CHART_HEIGHT = 270;
/** The usual height of a short email in pixels. */
const LINKS_HEIGHT = 300;
const SENDING_POLL_MS = 1_000;
/** Opens and clicks arrive for days, so a slow interval is enough. */
const POLL_MS = 10_000;

/** A campaign that is scheduled, is being sent or has ended. Redirects a draft to its editor. */
export function CampaignScreen() {
  const { campaignId } = useParams({ from: '/shell/campaigns/$campaignId' });
  const campaign = useQuery({
    ...queryFor('getCampaign', { params: { id: campaignId } }),
    refetchInterval: ({ state }) => getPollInterval(state.data),
  });
  return (
    <RecordQuery
      of={campaign}
      title={text.subjects.campaign}
      back={BACK_TO_CAMPAIGNS}
      pending={
        <>
          <GrayTabs count={2} />
          <GrayReport />
        </>
      }
    >
      {(loaded) =>
        loaded.status === 'DRAFT' ? (
          <Navigate to="/campaigns/$campaignId/edit" params={{ campaignId }} search={{}} replace />
        ) : (
          <Report campaign={loaded} />
        )
      }
    </RecordQuery>
  );
}

function getPollInterval(campaign: Campaign | undefined): number {
  return campaign && isSending(campaign.status) ? SENDING_POLL_MS : POLL_MS;
}

function Report({ campaign }: { campaign: Campaign }) {
  const { id, status, startedAt } = campaign;
  const stats = useQuery({
    ...queryFor('getCampaignStats', { params: { id } }),
    enabled: startedAt !== null,
    refetchInterval: getPollInterval(campaign),
  });
  const compared = useQuery({ ...COMPARED_CAMPAIGNS, enabled: startedAt !== null });
  // Statistics and comparison are shown together, so that a later comparison does not move the layout.
  const report = { ...stats, data: compared.isPending ? undefined : stats.data };
  return (
    <>
      <CampaignHead
        campaign={campaign}
        actions={
          <>
            <CampaignControls campaign={campaign} />
            {status === 'SCHEDULED' && <Edit id={id} />}
            {status === 'SENT' && <DuplicateButton id={id} />}
            <CampaignMenu campaign={campaign} />
          </>
        }
      />
      {startedAt !== null && <CampaignTabs id={id} active="report" total={stats.data?.total} />}
      <Stack gap="lg">
        {startedAt === null && (
          <Text>
            {words.startsAt} <ScheduledTime at={campaign.scheduledAt} />
          </Text>
        )}
        {startedAt !== null && (
          <QueryView
            of={report}
            pending={
              <Placeholder>
                <GrayReport />
              </Placeholder>
            }
          >
            {(figures) => (
              <>
                <Figures id={id} stats={figures} compared={compared.data?.campaigns ?? []}>
                  <CampaignProgress campaign={campaign} stats={figures} atMs={stats.dataUpdatedAt} />
                </Figures>
                {figures.variants && <VariantStatistics campaign={campaign} stats={figures} />}
                <Grid gutter="lg">
                  <Grid.Col span={{ base: 12, md: 7.5 }}>
                    <Stack gap="lg">
                      <Hours stats={figures} />
                      <Links campaign={campaign} />
                    </Stack>
                  </Grid.Col>
                  <Grid.Col span={{ base: 12, md: 4.5 }}>
                    <Reasons campaign={campaign} stats={figures} />
                  </Grid.Col>
                </Grid>
              </>
            )}
          </QueryView>
        )}
      </Stack>
    </>
  );
}

/** The placeholder of the report. */
function GrayReport() {
  return (
    <Stack gap="lg">
      <div>
        <Box display="grid" mb="md">
          <GrayLine width="min(240px, 60%)" height={24} />
        </Box>
        <Paper withBorder>
          <GrayStats count={6} hasDetail />
          <Box p="md">
            <GrayLines count={2} />
          </Box>
        </Paper>
      </div>
      <GrayColumns aside={<GrayCard lines={12} gap={10} />}>
        <GrayCard area={CHART_HEIGHT} />
        <GrayCard area={LINKS_HEIGHT} />
      </GrayColumns>
    </Stack>
  );
}

function Edit({ id }: { id: string }) {
  const navigate = useNavigate();
  return (
    <ActionButton
      needs="campaigns:edit"
      variant="default"
      onClick={() => void navigate({ to: '/campaigns/$campaignId/edit', params: { campaignId: id } })}
    >
      {words.edit}
    </ActionButton>
  );
}
