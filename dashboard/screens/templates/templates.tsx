import { Button, Group, SimpleGrid, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPhoto, IconPlus, IconTemplate } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { infiniteQueryFor } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { THUMBNAIL_HEIGHT } from '../../parts/email-editor/thumbnail.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failed } from '../../parts/failed.tsx';
import { SelectFilter } from '../../parts/filters.tsx';
import { PageFoot } from '../../parts/page-foot.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { PendingCards } from '../../parts/pending-cards.tsx';
import { Refreshing } from '../../parts/refreshing.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { text } from '../../text/text.ts';
import { CreateTemplate } from './create-template.tsx';
import { TEMPLATE_TYPES } from './routes.ts';
import { TemplateCard } from './template-card.tsx';

const PAGE = 24;
const COLS = { base: 1, xs: 2, md: 3, lg: 4 };

/** The templates of the project with thumbnails, newest first. */
export function Templates() {
  const { search, type } = useSearch({ from: '/shell/templates' });
  const [isCreateOpen, createDialog] = useDisclosure();
  const pages = useInfiniteQuery(
    infiniteQueryFor('listTemplates', { query: { limit: PAGE, ...(search && { search }), ...(type && { type }) } }),
  );
  const rows = pages.data?.pages.flatMap(({ templates }) => templates) ?? [];
  const total = pages.data?.pages[0]?.total ?? null;
  const isFiltered = search !== undefined || type !== undefined;
  const create = (
    <ActionButton needs="templates:edit" onClick={createDialog.open} leftSection={<IconPlus size={16} aria-hidden />}>
      {text.templates.create}
    </ActionButton>
  );
  return (
    <>
      <PageHead
        title={text.templates.title}
        actions={
          <>
            <Button
              component={Link}
              to="/templates/pictures"
              variant="default"
              leftSection={<IconPhoto size={16} stroke={1.75} aria-hidden />}
            >
              {text.templates.images}
            </Button>
            {create}
          </>
        }
      />
      <Filters />
      {pages.isPending && <PendingCards cols={COLS} imageHeight={THUMBNAIL_HEIGHT} />}
      {!pages.isPending && !pages.data && <Failed error={pages.error} retry={() => void pages.refetch()} />}
      {pages.data && rows.length === 0 && isFiltered && <Text c="dimmed">{text.templates.noneFound}</Text>}
      {pages.data && rows.length === 0 && !isFiltered && (
        <Empty
          icon={IconTemplate}
          title={text.templates.empty}
          what={text.templates.emptyHelp}
          action={create}
          curl={{
            method: 'POST',
            path: '/v1/templates',
            body: {
              name: 'Welcome',
              type: 'TRANSACTIONAL',
              subject: 'Welcome, {{firstName ?? there}}',
              body: '<p>…</p>',
            },
          }}
        />
      )}
      <Refreshing isBusy={pages.isPlaceholderData}>
        <SimpleGrid cols={COLS} component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
          {rows.map((template) => (
            <TemplateCard key={template.id} template={template} />
          ))}
        </SimpleGrid>
      </Refreshing>
      {rows.length > 0 && <PageFoot pages={pages} shown={rows.length} total={total} />}
      <CreateTemplate opened={isCreateOpen} onClose={createDialog.close} />
    </>
  );
}

function Filters() {
  const { search, type } = useSearch({ from: '/shell/templates' });
  const navigate = useNavigate({ from: '/templates' });
  return (
    <Group align="flex-end" gap="xs" mb="md">
      <SearchField
        label={text.templates.search}
        placeholder={text.templates.searchHint}
        value={search}
        onChange={(next) =>
          void navigate({
            search: ({ search: _, ...others }) => (next === undefined ? others : { ...others, search: next }),
            replace: true,
          })
        }
      />
      <SelectFilter
        label={text.templates.type}
        any={text.templates.anyType}
        value={type}
        choices={TEMPLATE_TYPES.map((value) => ({ value, label: text.templates.types[value] }))}
        onChange={(value) =>
          void navigate({
            search: ({ type: _, ...others }) => (value === undefined ? others : { ...others, type: value }),
            replace: true,
          })
        }
      />
    </Group>
  );
}
