import { SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useSession } from '../../app/session.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { ATTENTION, Attention } from './attention.tsx';
import { Figures } from './figures.tsx';

/** Loaded after the first screen, because only a new project shows it. */
const Checklist = lazy(() => import('./checklist.tsx').then((part) => ({ default: part.Checklist })));
/** Below the first screen, so they load after it. */
const Running = lazy(() => import('./running.tsx').then((part) => ({ default: part.Running })));
const Upcoming = lazy(() => import('./upcoming.tsx').then((part) => ({ default: part.Upcoming })));
const TODAY = new Intl.DateTimeFormat(undefined, { weekday: 'long', month: 'long', day: 'numeric' });

/** The usual height of a panel below the statistics, in pixels. */
const PANEL_HEIGHT = 280;
/** The usual height of everything below the header, in pixels. */
const BODY_HEIGHT = 720;

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
            <Status tone="done" means={text.home.allClearMeans}>
              {text.home.allClear}
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
      {attention.isPending ? <Skeleton h={BODY_HEIGHT} /> : <Body />}
    </>
  );
}

/**
 * Shows the panels of Home as soon as it is known whether something needs attention. The panel with these items is at
 * the top; if it appeared later, it would push the other panels down.
 */
function Body() {
  return (
    <Stack gap="lg">
      <Suspense>
        <Checklist />
      </Suspense>
      <Attention />
      <Figures />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="lg">
        <Suspense fallback={<Skeleton h={PANEL_HEIGHT} />}>
          <Running />
        </Suspense>
        <Suspense fallback={<Skeleton h={PANEL_HEIGHT} />}>
          <Upcoming />
        </Suspense>
      </SimpleGrid>
    </Stack>
  );
}
