import { Group, SegmentedControl, Select, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ItemOf, infiniteQueryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Breakable } from '../../parts/breakable.tsx';
import { formatCount, formatShare } from '../../parts/count-link.tsx';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { SelectFilter, toChoices } from '../../parts/filters.tsx';
import { Instant } from '../../parts/instant.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { HoldBadges } from './hold-badges.tsx';
import { OperatorHead } from './operator-head.tsx';
import { TENANT_ORDERS, type TenantsSearch } from './routes.ts';

type Tenant = ItemOf<'listTenants'>;

const words = text.operator;
/**
 * The number of projects in a list that is sorted by emails, bounces or complaints. Only the list of the newest
 * projects has more pages.
 */
const TOP = 100;

/** All projects of the installation. Search, hold and order are in the URL. */
export function Tenants() {
  const { q, held, over, order = 'newest' } = useSearch({ from: '/shell/operator/projects' });
  const isTop = order !== 'newest';
  const query = {
    order,
    ...(over && { over }),
    ...(isTop && { limit: TOP }),
    ...(q !== undefined && { search: q }),
    ...(held !== undefined && { held }),
  };
  const pages = useInfiniteQuery(infiniteQueryFor('listTenants', { query }));
  return (
    <>
      <OperatorHead title={words.tenants} count={pages.data?.pages[0]?.total} />
      <Filters />
      <CursorTable
        pages={pages}
        columns={over === 'month' ? MONTH_COLUMNS : DAY_COLUMNS}
        rowKey={({ id }) => id}
        caption={words.tenants}
        empty={<Empty title={words.noTenants} what={words.noTenantsHelp} />}
      />
      {over === 'month' && (
        <Text size="sm" c="dimmed" mt="xs">
          {words.monthLags}
        </Text>
      )}
      {isTop && (
        <Text size="sm" c="dimmed" mt="xs">
          {words.topOnly(TOP)}
        </Text>
      )}
    </>
  );
}

const PROJECT: Column<Tenant>[] = [
  {
    name: words.project,
    cell: (tenant) => (
      <>
        <AppLink to={`/operator/projects/${tenant.id}`} lineClamp={2}>
          {tenant.name}
        </AppLink>
        {(tenant.operatorHold.held || tenant.ownHold.held || tenant.disabled) && (
          <Group gap="2px 10px" mt={2}>
            <HoldBadges tenant={tenant} />
            {tenant.disabled && <Status tone="failed">{words.disabled}</Status>}
          </Group>
        )}
      </>
    ),
  },
  { name: words.owners, cell: ({ owners }) => <Owners owners={owners} />, width: 230, wideOnly: true },
];
const CREATED_COLUMN: Column<Tenant> = {
  name: words.created,
  cell: ({ createdAt }) => <Instant at={createdAt} />,
  align: 'right',
  width: 110,
  wideOnly: true,
};

const DAY_COLUMNS: Column<Tenant>[] = [
  ...PROJECT,
  { name: words.mails, cell: ({ mails }) => formatCount(mails), align: 'right', width: 120 },
  {
    name: words.bounced,
    cell: ({ dead, mails }) => <ShareCell part={dead} whole={mails} />,
    align: 'right',
    width: 110,
  },
  {
    name: words.complained,
    cell: ({ complaints, mails }) => <ShareCell part={complaints} whole={mails} />,
    align: 'right',
    width: 130,
    wideOnly: true,
  },
  CREATED_COLUMN,
];

const MONTH_COLUMNS: Column<Tenant>[] = [
  ...PROJECT,
  { name: words.monthEmails, cell: ({ month }) => formatCount(month.sent), align: 'right', width: 130 },
  {
    name: words.monthBounced,
    cell: ({ month }) => <ShareCell part={month.bounced} whole={month.sent} />,
    align: 'right',
    width: 120,
  },
  {
    name: words.complained,
    cell: ({ month }) => <ShareCell part={month.complained} whole={month.sent} />,
    align: 'right',
    width: 130,
    wideOnly: true,
  },
  CREATED_COLUMN,
];

/** The first owner, with the number of others. All are shown on hover. */
function Owners({ owners: [first, ...others] }: { owners: string[] }) {
  if (first === undefined)
    return (
      <Text inherit c="dimmed">
        {words.noOwners}
      </Text>
    );
  return (
    <Text inherit title={[first, ...others].join(', ')}>
      <Breakable text={first} />
      {others.length > 0 && (
        <Text span inherit c="dimmed" style={{ whiteSpace: 'nowrap' }}>
          {' '}
          {words.moreOwners(others.length)}
        </Text>
      )}
    </Text>
  );
}

function ShareCell({ part, whole }: { part: number; whole: number }) {
  if (part === 0)
    return (
      <Text inherit c="dimmed">
        {formatCount(part)}
      </Text>
    );
  return (
    <Text inherit style={{ whiteSpace: 'nowrap' }}>
      {formatCount(part)}
      {whole > 0 && (
        <Text span size="xs" c="dimmed">
          {' '}
          {formatShare(part, whole)}
        </Text>
      )}
    </Text>
  );
}

function Filters() {
  const { q, held, over, order = 'newest' } = useSearch({ from: '/shell/operator/projects' });
  const navigate = useNavigate({ from: '/operator/projects' });
  const set = (next: { [Key in keyof TenantsSearch]: TenantsSearch[Key] | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  return (
    <Group mb="md" gap="xs" align="flex-end">
      <SearchField
        label={words.searchTenants}
        placeholder={words.searchTenants}
        value={q}
        onChange={(next) => set({ q: next })}
      />
      <SelectFilter
        label={words.holds}
        any={words.allHolds}
        value={held === undefined ? undefined : held ? 'true' : 'false'}
        choices={toChoices({ true: words.onHold, false: words.notOnHold })}
        onChange={(next) => set({ held: next && next === 'true' })}
      />
      <Select
        aria-label={words.order}
        data={TENANT_ORDERS.map((value) => ({ value, label: words.orders[value] }))}
        value={order}
        onChange={(next) =>
          set({ order: next === 'newest' ? undefined : (TENANT_ORDERS.find((o) => o === next) ?? undefined) })
        }
        allowDeselect={false}
        flex="1 1 150px"
        maw={{ sm: 170 }}
      />
      <SegmentedControl
        aria-label={words.over}
        data={[
          { value: 'day', label: words.overs.day },
          { value: 'month', label: words.overs.month },
        ]}
        value={over ?? 'day'}
        onChange={(next) => set({ over: next === 'month' ? 'month' : undefined })}
      />
    </Group>
  );
}
