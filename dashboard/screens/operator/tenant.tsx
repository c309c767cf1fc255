import { Alert, Grid, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { GrayCard, GrayStats } from '../../parts/gray-parts.tsx';
import { Instant } from '../../parts/instant.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { RecordQuery } from '../../parts/record-query.tsx';
import { text } from '../../text/text.ts';
import { HoldActions } from './hold-actions.tsx';
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
    <Stack gap="lg">
      <GrayCard area={CHART_HEIGHT}>
        <GrayStats count={3} hasDetail />
      </GrayCard>
      <GrayCard area={CHART_HEIGHT}>
        <GrayStats count={3} hasDetail />
      </GrayCard>
    </Stack>
  );
}

function TenantDetails({ tenant }: { tenant: Tenant }) {
  return (
    <>
      <PageHead
        title={tenant.name}
        back={BACK}
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
      <Stack gap="lg">
        <Hold title={words.operatorHold} color="red" hold={tenant.operatorHold} />
        <Hold title={words.ownHold} color="orange" hold={tenant.ownHold} />
        <TenantHours tenant={tenant} />
        <TenantDays days={tenant.days} />
        <Grid gutter="lg">
          <Grid.Col span={{ base: 12, md: 6 }}>
            <TenantLimits key={JSON.stringify(tenant.operatorLimits)} tenant={tenant} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 6 }}>
            <SenderRefusals refusals={tenant.refusals} />
          </Grid.Col>
        </Grid>
        <TenantActions actions={tenant.actions} />
      </Stack>
    </>
  );
}

function Hold({ title, color, hold }: { title: string; color: string; hold: Tenant['ownHold'] }) {
  if (!hold.held) return null;
  return (
    <Alert color={color} title={title} style={{ overflowWrap: 'anywhere' }}>
      {words.heldMeans(hold.reason)} ({words.since} <Instant at={hold.since} />)
    </Alert>
  );
}
