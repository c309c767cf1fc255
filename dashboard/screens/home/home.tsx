import { SimpleGrid, Stack } from '@mantine/core';
import { useSession } from '../../app/session.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { text } from '../../text/text.ts';
import { Attention } from './attention.tsx';
import { Checklist } from './checklist.tsx';
import { Figures } from './figures.tsx';
import { Running } from './running.tsx';
import { Upcoming } from './upcoming.tsx';

/** Home: results, items that need attention, and what comes next. */
export function Home() {
  const { projectName } = useSession();
  return (
    <>
      <PageHead title={projectName || text.nav.home} />
      <Stack gap="xl">
        <Checklist />
        <Attention />
        <Figures />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="xl">
          <Running />
          <Upcoming />
        </SimpleGrid>
      </Stack>
    </>
  );
}
