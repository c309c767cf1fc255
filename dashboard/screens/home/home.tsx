import { Stack } from '@mantine/core';
import { useSession } from '../../app/session.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { text } from '../../text/text.ts';
import { Attention } from './attention.tsx';
import { Checklist } from './checklist.tsx';
import { Figures } from './figures.tsx';
import { Running } from './running.tsx';
import { Upcoming } from './upcoming.tsx';

/** What happened, what needs somebody, what comes. */
export function Home() {
  const { projectName } = useSession();
  return (
    <>
      <PageHead title={projectName || text.nav.home} />
      <Stack gap="xl">
        <Checklist />
        <Attention />
        <Figures />
        <Running />
        <Upcoming />
      </Stack>
    </>
  );
}
