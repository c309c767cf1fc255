import { Button, Group, Text } from '@mantine/core';
import { IconChartPie2, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { AppLink } from '../../parts/app-link.tsx';
import { filterAsSentence, listFilters } from '../../parts/condition-builder/sentence.ts';
import { useFieldChoices } from '../../parts/condition-builder/use-field-choices.ts';
import { CountLink } from '../../parts/count-link.tsx';
import { Empty } from '../../parts/empty.tsx';
import { SelectFilter, toChoices } from '../../parts/filters.tsx';
import { Instant } from '../../parts/instant.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { type Column, PendingRows, RowTable } from '../../parts/row-table.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { Tag } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { TypeBadge } from './type-badge.tsx';

type Segment = ResponseOf<'listSegments'>[number];

const words = text.segments;
const EXAMPLE = {
  name: 'Pro customers',
  condition: { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] },
};

/** All segments of the project. The search and the type are in the URL. */
export function Segments() {
  const segments = useQuery(queryFor('listSegments'));
  const { q, type } = useSearch({ from: '/shell/segments' });
  return (
    <>
      <PageHead title={words.list} count={segments.data?.length || undefined} actions={<NewButtons />} />
      <QueryView of={segments} pending={<PendingList />}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              icon={IconChartPie2}
              title={words.emptyTitle}
              what={words.emptyHelp}
              curl={{ method: 'POST', path: '/v1/segments', body: EXAMPLE }}
            />
          ) : (
            <>
              <Filters />
              <List segments={all.filter((segment) => matchesFilters(segment, { q, type }))} />
            </>
          )
        }
      </QueryView>
    </>
  );
}

function PendingList() {
  return (
    <>
      <Filters />
      <PendingRows columns={COLUMNS} caption={words.list} />
    </>
  );
}

function NewButtons() {
  const navigate = useNavigate();
  const open = (type: Segment['type']) =>
    void navigate({ to: '/segments/new', search: type === 'STATIC' ? { type } : {} });
  return (
    <>
      <ActionButton needs="segments:edit" variant="default" onClick={() => open('STATIC')}>
        {words.createStatic}
      </ActionButton>
      <ActionButton needs="segments:edit" leftSection={<IconPlus size={16} />} onClick={() => open('DYNAMIC')}>
        {words.createIt}
      </ActionButton>
    </>
  );
}

function Filters() {
  const { q, type } = useSearch({ from: '/shell/segments' });
  const navigate = useNavigate({ from: '/segments' });
  const set = (change: { q?: string | undefined } | { type?: Segment['type'] | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <Group mb="md" gap="xs" align="flex-end">
      <SearchField
        label={words.searchLabel}
        placeholder={words.search}
        value={q}
        onChange={(next) => set({ q: next })}
      />
      <SelectFilter
        label={words.type}
        any={words.allTypes}
        value={type}
        choices={toChoices(words.types)}
        onChange={(next) => set({ type: next })}
      />
    </Group>
  );
}

function matchesFilters(segment: Segment, { q, type }: { q?: string | undefined; type?: Segment['type'] | undefined }) {
  if (type && segment.type !== type) return false;
  if (!q) return true;
  const lowerQuery = q.toLowerCase();
  return [segment.name, segment.slug, segment.description ?? ''].some((value) =>
    value.toLowerCase().includes(lowerQuery),
  );
}

function List({ segments }: { segments: Segment[] }) {
  if (segments.length === 0) {
    return (
      <Group>
        <Text c="dimmed">{words.nothingFound}</Text>
        <Button component={Link} to="/segments" variant="default" size="xs">
          {words.clearSearch}
        </Button>
      </Group>
    );
  }
  return <RowTable rows={segments} columns={COLUMNS} rowKey={({ id }) => id} caption={words.list} />;
}

const COLUMNS: Column<Segment>[] = [
  { name: words.name, isMain: true, cell: (segment) => <Name segment={segment} /> },
  {
    name: words.type,
    wideOnly: 'md',
    cell: ({ type, trackMembership }) => (
      <Group gap={6} wrap="nowrap">
        <TypeBadge type={type} />
        {trackMembership && <Tag means={words.trackedMeans}>{words.tracked}</Tag>}
      </Group>
    ),
  },
  {
    name: words.condition,
    wideOnly: true,
    cell: ({ condition }) => condition && <Summary condition={condition} />,
  },
  {
    name: words.contacts,
    align: 'right',
    cell: ({ id, memberCount }) => <CountLink n={memberCount} href={`/segments/${id}`} />,
  },
  { name: words.created, wideOnly: 'md', cell: ({ createdAt }) => <Instant at={createdAt} /> },
];

function Name({ segment: { id, name, description } }: { segment: Segment }) {
  return (
    <div className="name-cell">
      <AppLink to={`/segments/${id}`} truncate>
        {name}
      </AppLink>
      {description && (
        <Text span inherit c="dimmed" truncate title={description}>
          {description}
        </Text>
      )}
    </div>
  );
}

const SENTENCES_SHOWN = 3;

/** Shows the first filters of a condition in words, and the number of the others. */
function Summary({ condition }: { condition: NonNullable<Segment['condition']> }) {
  const choices = useFieldChoices('audience');
  const filters = listFilters(condition);
  const sentences = filters.slice(0, SENTENCES_SHOWN).map((filter) => filterAsSentence(filter, choices));
  const joined = sentences.join(condition.groups.length > 1 ? ' · ' : ` ${text.conditions.both} `);
  const more = filters.length - sentences.length;
  return (
    <Text size="sm" lineClamp={3}>
      {joined}
      {more > 0 && ` ${text.conditions.more(more)}`}
    </Text>
  );
}
