import { Box, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { text } from '../../text/text.ts';
import { listViews } from './list-views.ts';
import type { ListSearch } from './routes.ts';

const words = text.contacts.list;

/** The views of the list as tabs: contacts by status, and contacts of the largest segments. */
export function Views() {
  const { can } = useSession();
  const { condition, sort } = useSearch({ from: '/shell/contacts' });
  const segments = useQuery({ ...queryFor('listSegments'), enabled: can('segments:view') });
  const views = listViews(segments.data ?? []);
  const conditionJson = JSON.stringify(condition);
  const isNew = condition && !views.some((view) => JSON.stringify(view.condition) === conditionJson);
  return (
    <Box className="views">
      <nav aria-label={words.views} className="nav-tabs">
        {views.map((view) => (
          <Link
            key={view.key}
            to="/contacts"
            search={{ ...(view.condition && { condition: view.condition }), ...(sort && { sort }) } as ListSearch}
            activeOptions={{ exact: true }}
            aria-current={JSON.stringify(view.condition) === conditionJson ? 'page' : undefined}
            title={view.name}
          >
            <span>{view.name}</span>
            {view.count !== undefined && (
              <Text span inherit c="dimmed" fw={400}>
                {formatCount(view.count)}
              </Text>
            )}
          </Link>
        ))}
      </nav>
      {isNew && can('segments:edit') && (
        <Link to="/segments/new" search={{ condition }} className="views-save">
          <IconPlus size={16} aria-hidden />
          {words.saveView}
        </Link>
      )}
    </Box>
  );
}
