import { Box, Group, List, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Empty } from '../../parts/empty.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';

const words = text.segments;

/** Resources that use the segment. */
export function Usage({ segmentId }: { segmentId: string }) {
  const usage = useQuery(queryFor('getSegmentUsage', { params: { id: segmentId } }));
  return (
    <QueryView of={usage}>
      {({ usedInCampaigns, usedInSegments, usedInWorkflows }) =>
        usedInCampaigns.length + usedInSegments.length + usedInWorkflows.length === 0 ? (
          <Empty title={words.usedNowhere} what={words.usedNowhereHelp} />
        ) : (
          <>
            <UsedBy title={words.usedInCampaigns}>
              {usedInCampaigns.map(({ id, name, status }) => (
                <UsedByItem key={id} to={`/campaigns/${id}`} name={name}>
                  <WordBadge kind="campaign" value={status} />
                </UsedByItem>
              ))}
            </UsedBy>
            <UsedBy title={words.usedInWorkflows}>
              {usedInWorkflows.map(({ id, name }) => (
                <UsedByItem key={id} to={`/automations/${id}`} name={name} />
              ))}
            </UsedBy>
            <UsedBy title={words.usedInSegments}>
              {usedInSegments.map(({ id, name }) => (
                <UsedByItem key={id} to={`/segments/${id}`} name={name} />
              ))}
            </UsedBy>
          </>
        )
      }
    </QueryView>
  );
}

function UsedBy({ title, children }: { title: string; children: ReactNode[] }) {
  if (children.length === 0) return null;
  return (
    <Box mb="lg">
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      <List listStyleType="none" spacing={4}>
        {children}
      </List>
    </Box>
  );
}

function UsedByItem({ to, name, children }: { to: string; name: string; children?: ReactNode }) {
  return (
    <List.Item>
      <Group gap="xs">
        <AppLink to={to}>{name}</AppLink>
        {children}
      </Group>
    </List.Item>
  );
}
