import { Alert, Box, Grid, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { formatCount, formatShare } from '../../parts/count-link.tsx';
import { GrayCard, GrayColumns, GrayStats } from '../../parts/gray-parts.tsx';
import { Instant } from '../../parts/instant.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { GrayLine } from '../../parts/pending-lines.tsx';
import { RecordQuery } from '../../parts/record-query.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { HoldActions } from './hold-actions.tsx';
import { HoldBadges } from './hold-badges.tsx';
import { SenderRefusals } from './sender-refusals.tsx';
import { TenantActions } from './tenant-actions.tsx';
import { TenantDays } from './tenant-days.tsx';
import { TenantHours } from './tenant-hours.tsx';
import { TenantLimits } from './tenant-limits.tsx';

type Tenant = ResponseOf<'getTenant'>;

const words = text.operator;

/** One project, as an operator sees it: its emails, holds and limits. */
export function TenantScreen() {
  const { tenantId } = useParams({ from: '/shell/operator/projects/$tenantId' });
  const tenant = useQuery(queryFor('getTenant', { params: { id: tenantId } }));
  return (
    <RecordQuery of={tenant} title={words.project} back={BACK} lines={2} buttons={0} pending={<GrayTenant />}>
      {(loaded) => <TenantDetails tenant={loaded} />}
    </RecordQuery>
  );
}

const BACK = { to: '/operator/projects', label: words.tenants };
/** The height in pixels of a chart with its legend, and of the link that shows it as a table. */
const CHART_HEIGHT = 230;

function GrayTenant() {
  return (
    <>
      <Box display="grid" mb="md">
        <GrayLine width="min(320px, 80%)" height={24} />
      </Box>
      <GrayColumns aside={<GrayCard lines={12} gap={14} />}>
        <GrayCard area={CHART_HEIGHT}>
          <GrayStats count={3} hasDetail />
        </GrayCard>
        <GrayCard area={CHART_HEIGHT}>
          <GrayStats count={3} hasDetail />
        </GrayCard>
      </GrayColumns>
    </>
  );
}

function TenantDetails({ tenant }: { tenant: Tenant }) {
  return (
    <>
      <PageHead
        title={tenant.name}
        back={BACK}
        status={<SendingState tenant={tenant} />}
        subtitle={
          <>
            {words.tenantSubtitle(tenant.owners.join(', ') || words.noOwners)} · {words.created}{' '}
            <Instant at={tenant.createdAt} />
            <Group gap={4} mt={2} wrap="nowrap">
              <Text span ff="monospace" size="xs">
                {tenant.id}
              </Text>
              <CopyButton value={tenant.id} isSmall />
            </Group>
          </>
        }
        actions={<HoldActions tenant={tenant} />}
      />
      <Hold title={words.operatorHold} color="red" hold={tenant.operatorHold} />
      <Hold title={words.ownHold} color="orange" hold={tenant.ownHold} />
      <TenantNews tenant={tenant} />
      <Stack gap="lg">
        <Grid gutter="lg">
          <Grid.Col span={{ base: 12, md: 7.5 }}>
            <Stack gap="lg">
              <TenantHours tenant={tenant} />
              <TenantDays days={tenant.days} />
            </Stack>
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 4.5 }}>
            <Stack gap="lg">
              <TenantLimits key={JSON.stringify(tenant.operatorLimits)} tenant={tenant} />
              <SenderRefusals refusals={tenant.refusals} />
            </Stack>
          </Grid.Col>
        </Grid>
        <TenantActions actions={tenant.actions} />
      </Stack>
    </>
  );
}

/** Says whether the project sends: as a status beside its name. */
function SendingState({ tenant }: { tenant: Tenant }) {
  if (tenant.disabled) return <Status tone="failed">{words.disabled}</Status>;
  if (tenant.operatorHold.held || tenant.ownHold.held) return <HoldBadges tenant={tenant} />;
  return <Status tone="done">{words.active}</Status>;
}

/** Says in one sentence how much the project sends, and how the recipients' servers receive it. */
function TenantNews({ tenant: { days } }: { tenant: Tenant }) {
  const sum = (of: 'sent' | 'bounced' | 'complained') => days.reduce((total, day) => total + day[of], 0);
  const sent = sum('sent');
  return (
    <Text size="lg" mb="md">
      <b>{words.sentInMonth(sent, formatCount(sent))}</b>
      {sent > 0 && words.sharesInMonth(formatShare(sum('bounced'), sent), formatShare(sum('complained'), sent))}
    </Text>
  );
}

function Hold({ title, color, hold }: { title: string; color: string; hold: Tenant['ownHold'] }) {
  if (!hold.held) return null;
  return (
    <Alert color={color} title={title} mb="md" style={{ overflowWrap: 'anywhere' }}>
      {words.heldMeans(hold.reason)} ({words.since} <Instant at={hold.since} />)
    </Alert>
  );
}
