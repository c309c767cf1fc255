import { SimpleGrid, Stack } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { ATTENTION, Attention } from './attention.tsx';
import { Checklist } from './checklist.tsx';
import { Figures } from './figures.tsx';
import { Running } from './running.tsx';
import { Upcoming } from './upcoming.tsx';

const TODAY = new Intl.DateTimeFormat(undefined, { weekday: 'long', month: 'long', day: 'numeric' });

/** Home: results, items that need attention, and what comes next. */
export function Home() {
  const { projectName } = useSession();
  const navigate = useNavigate();
  const attention = useQuery(ATTENTION);
  const isClear = attention.data?.data.length === 0;
  return (
    <>
      <PageHead
        title={projectName || text.nav.home}
        status={
          isClear && (
            <Status tone="done" means={text.home.allWellMeans}>
              {text.home.allWell}
            </Status>
          )
        }
        subtitle={TODAY.format(new Date())}
        actions={
          <ActionButton
            needs="campaigns:edit"
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => void navigate({ to: '/campaigns/new' })}
          >
            {text.home.createCampaign}
          </ActionButton>
        }
      />
      <Stack gap="lg">
        <Checklist />
        <Attention />
        <Figures />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="lg">
          <Running />
          <Upcoming />
        </SimpleGrid>
      </Stack>
    </>
  );
}
