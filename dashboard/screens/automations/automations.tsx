import { Anchor, Box, Text } from '@mantine/core';
import { IconBolt, IconPlus } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type ItemOf, infiniteQueryFor } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { NewAutomation } from './new-automation.tsx';
import { getStartEvent } from './start-event.ts';

const t = text.automations;
type Row = ItemOf<'listWorkflows'>;

const COLUMNS: Column<Row>[] = [
  {
    name: t.name,
    isMain: true,
    cell: ({ id, name, description }) => (
      <div className="name-cell">
        <Anchor component={Link} to={`/automations/${id}`} fw={500} truncate>
          {name}
        </Anchor>
        {description && (
          <Text span inherit c="dimmed" truncate title={description}>
            {description}
          </Text>
        )}
      </div>
    ),
  },
  {
    name: t.trigger,
    cell: (workflow) =>
      getStartEvent(workflow) ?? (
        <Text size="sm" c="dimmed">
          {t.manualOrApi}
        </Text>
      ),
    wideOnly: true,
  },
  { name: t.state, cell: ({ enabled }) => <EnabledStatus enabled={enabled} />, width: 120 },
  { name: t.changed, cell: ({ updatedAt }) => <Instant at={updatedAt} />, width: 140, wideOnly: true },
];

/** The automations of the project, newest first, filtered by name. The search text is in the URL. */
export function Automations() {
  const [isNew, setNew] = useState(false);
  const { search } = useSearch({ from: '/shell/automations' });
  const navigate = useNavigate();
  const pages = useInfiniteQuery(
    infiniteQueryFor('listWorkflows', { query: { pageSize: 50, ...(search && { search }) } }),
  );
  const create = (
    <ActionButton needs="workflows:edit" leftSection={<IconPlus size={16} />} onClick={() => setNew(true)}>
      {t.open}
    </ActionButton>
  );
  return (
    <>
      <PageHead title={text.nav.automations} subtitle={t.subtitle} actions={create} />
      <Box mb="md">
        <SearchField
          label={t.search}
          placeholder={t.searchHint}
          value={search}
          onChange={(next) =>
            void navigate({ to: '/automations', search: next === undefined ? {} : { search: next }, replace: true })
          }
        />
      </Box>
      <CursorTable
        pages={pages}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        caption={t.caption}
        empty={
          search ? (
            <Text c="dimmed">{t.noneFound}</Text>
          ) : (
            <Empty
              icon={IconBolt}
              title={t.emptyTitle}
              what={t.emptyHelp}
              action={create}
              curl={{ method: 'POST', path: '/v1/workflows', body: { name: 'Welcome', eventName: 'signup' } }}
            />
          )
        }
      />
      {isNew && <NewAutomation onClose={() => setNew(false)} />}
    </>
  );
}

export function EnabledStatus({ enabled }: { enabled: boolean }) {
  return <Status tone={enabled ? 'done' : 'idle'}>{enabled ? t.enabled : t.disabled}</Status>;
}
