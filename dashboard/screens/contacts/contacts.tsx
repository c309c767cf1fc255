import { Box, Button, Checkbox, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconDownload, IconHistory, IconPlus, IconUpload, IconUsers } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ApiFailure, getOperationUrl } from '../../api/client.ts';
import { infiniteQueryFor, listQueryFor } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ContactCell } from '../../parts/contact-cell.tsx';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import { Placeholder } from '../../parts/loading.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { type Column, GrayRows } from '../../parts/row-table.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { AddContact } from './add-contact.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { ColumnMenu, getColumnName } from './column-menu.tsx';
import { formatCell } from './columns.ts';
import { RunningJobs, useRunningJobs } from './jobs/running-jobs.tsx';
import { ListFilter } from './list-filter.tsx';
import type { ListSearch, ListSort } from './routes.ts';
import { type ListedContact, type Selection, useSelection } from './selection.ts';
import { useColumns } from './use-columns.ts';
import { Views } from './views.tsx';

const words = text.contacts.list;
const PAGE = 50;
/** The height in pixels of the row of filters, with the space for the filter editor below it. */
const FILTER_HEIGHT = 44;

/** The contacts of the project. The filter is in the URL, and this browser stores the selected columns. */
export function Contacts() {
  const listSearch = useSearch({ from: '/shell/contacts' });
  const { sort, ...where } = listSearch;
  const query = toListQuery(where);
  // Counting a million contacts takes a second, so the page loads without the total.
  const pages = useInfiniteQuery(
    infiniteQueryFor('listContacts', {
      query: { ...query, ...(sort && { sort }), limit: PAGE, count: false },
    }),
  );
  const counted = useQuery({
    ...listQueryFor('listContacts', { query: { ...query, limit: 1 } }),
    staleTime: 30_000,
  });
  const total = counted.isPlaceholderData ? null : (counted.data?.total ?? null);
  const navigate = useNavigate();
  const sortBy = (next: ListSort | undefined) =>
    void navigate({ to: '/contacts', search: { ...where, sort: next } as ListSearch, replace: true });
  const jobs = useRunningJobs();
  const selection = useSelection(JSON.stringify(where));
  const { columns, show } = useColumns();
  const [isAddOpen, addDialog] = useDisclosure();
  const shown = pages.data?.pages.flatMap(({ data }) => data) ?? [];
  const listColumns = [
    createSelectionColumn(selection, shown),
    createContactColumn(sort, sortBy),
    ...columns.map((column) => createColumn(column, sort, sortBy)),
  ];
  return (
    <>
      <PageHead
        title={text.contacts.title}
        count={total || undefined}
        actions={<Actions query={query} onAdd={addDialog.open} />}
      />
      <Views />
      {/* Running jobs are above the list and would push it down. */}
      {jobs.isPending ? (
        <Placeholder>
          <Box h={FILTER_HEIGHT} mb="md" />
          <GrayRows columns={listColumns} caption={words.caption} />
        </Placeholder>
      ) : (
        <>
          <RunningJobs />
          <ListFilter failure={pages.error instanceof ApiFailure ? pages.error : null}>
            <ColumnMenu columns={columns} show={show} />
          </ListFilter>
          <CursorTable
            pages={withTotal(pages, total)}
            columns={listColumns}
            rowKey={({ id }) => id}
            caption={words.caption}
            empty={<NoContacts listSearch={listSearch} onAdd={addDialog.open} />}
          />
        </>
      )}
      <BulkBar selection={selection} shown={shown} total={total} where={where} />
      <AddContact opened={isAddOpen} onClose={addDialog.close} />
    </>
  );
}

/** Returns the query of the API, with the condition as JSON. */
function toListQuery({ search, condition }: ListSearch) {
  return { ...(search && { search }), ...(condition && { condition: JSON.stringify(condition) }) };
}

function withTotal<
  P extends { data?: { pages: { data: ListedContact[]; total: number }[]; pageParams: unknown[] } | undefined },
>(pages: P, total: number | null) {
  const { data } = pages;
  return { ...pages, data: data && { ...data, pages: data.pages.map((page) => ({ ...page, total })) } };
}

function Actions({ query, onAdd }: { query: ReturnType<typeof toListQuery>; onAdd: () => void }) {
  const navigate = useNavigate();
  return (
    <>
      <ActionButton
        needs="contacts:edit"
        variant="default"
        leftSection={<IconUpload size={16} aria-hidden />}
        onClick={() => void navigate({ to: '/contacts/import' })}
      >
        {words.import}
      </ActionButton>
      <ActionButton needs="contacts:edit" leftSection={<IconPlus size={16} aria-hidden />} onClick={onAdd}>
        {words.add}
      </ActionButton>
      <MoreMenu>
        <MoreItem icon={IconDownload} href={getOperationUrl('exportContacts', { query })}>
          {words.exportCsv}
        </MoreItem>
        <MoreItem icon={IconHistory} onClick={() => void navigate({ to: '/contacts/jobs' })}>
          {words.jobs}
        </MoreItem>
      </MoreMenu>
    </>
  );
}

function NoContacts({ listSearch, onAdd }: { listSearch: ListSearch; onAdd: () => void }) {
  if (listSearch.search || listSearch.condition) {
    return (
      <Empty
        title={words.noneFound}
        what={words.noneFoundHelp}
        action={
          <Button component={Link} to="/contacts" variant="default">
            {words.clearFilter}
          </Button>
        }
      />
    );
  }
  return (
    <Empty
      icon={IconUsers}
      title={words.noneYet}
      what={words.noneYetHelp}
      action={
        <ActionButton needs="contacts:edit" onClick={onAdd}>
          {words.add}
        </ActionButton>
      }
      curl={{ method: 'POST', path: '/v1/contacts', body: { email: 'ada@example.com', data: { firstName: 'Ada' } } }}
    />
  );
}

function createSelectionColumn(selection: Selection, shown: ListedContact[]): Column<ListedContact> {
  const picked = shown.filter(({ id }) => selection.has(id)).length;
  return {
    name: words.selectShown,
    width: 36,
    head: (
      <Checkbox
        aria-label={words.selectShown}
        checked={picked > 0 && picked === shown.length}
        indeterminate={picked > 0 && picked < shown.length}
        onChange={(event) => selection.toggle(shown, event.currentTarget.checked)}
      />
    ),
    cell: (contact) => (
      <Checkbox
        aria-label={words.select(contact.email)}
        checked={selection.has(contact.id)}
        disabled={selection.all}
        onChange={(event) => selection.toggle([contact], event.currentTarget.checked)}
      />
    ),
  };
}

/** Width of a standard column, so that the contacts do not take the whole page. */
const STANDARD_PX = 168;

type SortBy = (sort: ListSort | undefined) => void;

function createContactColumn(sort: ListSort | undefined, sortBy: SortBy): Column<ListedContact> {
  const direction = sort === 'email' ? 'ascending' : sort === '-email' ? 'descending' : undefined;
  return {
    name: words.contact,
    isMain: true,
    sort: { by: direction, onSort: () => sortBy(sort === 'email' ? '-email' : 'email') },
    cell: (contact) => <ContactCell {...contact} />,
  };
}

function createColumn(column: string, sort: ListSort | undefined, sortBy: SortBy): Column<ListedContact> {
  const name = getColumnName(column);
  if (column === 'subscription') {
    return {
      name,
      width: STANDARD_PX,
      isWhole: true,
      cell: ({ subscription, createdAt }) => (
        <>
          <WordBadge kind="subscription" value={subscription} />
          {/* A phone has no column for the time. */}
          <Text size="xs" c="dimmed" hiddenFrom="sm" className="when">
            <Instant at={createdAt} />
          </Text>
        </>
      ),
    };
  }
  if (column === 'createdAt') {
    const direction = sort === undefined ? 'descending' : sort === 'createdAt' ? 'ascending' : undefined;
    return {
      name,
      width: STANDARD_PX,
      wideOnly: true,
      sort: { by: direction, onSort: () => sortBy(sort === undefined ? 'createdAt' : undefined) },
      cell: ({ createdAt }) => <Instant at={createdAt} />,
    };
  }
  if (column === 'updatedAt') {
    return { name, width: STANDARD_PX, wideOnly: true, cell: ({ updatedAt }) => <Instant at={updatedAt} /> };
  }
  if (column === 'smsSubscribed') {
    return {
      name,
      wideOnly: true,
      cell: ({ smsSubscribed }) => (smsSubscribed ? text.contacts.data.yes : text.contacts.data.no),
    };
  }
  const key = column.replace(/^data\./, '');
  return {
    name: column.startsWith('data.') ? key : name,
    wideOnly: true,
    cell: ({ data }) => <Cell value={data[key]} />,
  };
}

const CELL_MAX_CHARS = 200;

function Cell({ value }: { value: unknown }) {
  const valueText = formatCell(value);
  return <>{valueText.length > CELL_MAX_CHARS ? `${valueText.slice(0, CELL_MAX_CHARS)} …` : valueText}</>;
}
