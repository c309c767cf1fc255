import { Alert, AppShell, Box, Burger, Group, NavLink, ScrollArea, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { answerOf } from '../api/queries.ts';
import { Loading } from '../parts/loading.tsx';
import { text } from '../text/text.ts';
import { AccountMenu } from './account-menu.tsx';
import { useKeys } from './keys.ts';
import { useNav } from './nav.ts';
import { ProjectSwitch } from './project-switch.tsx';
import { SearchButton } from './search-button.tsx';
import { useSession } from './session.ts';

// Nobody sees them before they press a key: they come after the first screen.
const Search = lazy(() => import('./search.tsx').then((module) => ({ default: module.Search })));
const KeysHelp = lazy(() => import('./keys-help.tsx').then((module) => ({ default: module.KeysHelp })));

/** Around every screen: navigation, project, search and keys. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another screen closes the menu of a phone
  useEffect(close, [pathname]);
  const keys = useKeys();
  const isIdle = useFirstIdle();
  const nav = useNav();
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a href="#main" className="skip-link">
        {text.app.toContent}
      </a>
      <AppShell.Header px="sm">
        <Group h="100%" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={text.app.menu} />
            <ProjectSwitch />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SearchButton />
            <AccountMenu onKeys={keys.open} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={text.app.menu}>
        <AppShell.Section grow component={ScrollArea}>
          {nav.map(({ to, label, icon: Icon }) => (
            <NavLink
              key={to}
              component={Link}
              to={to}
              label={label}
              leftSection={<Icon size={18} stroke={1.7} aria-hidden />}
              active={to === '/' ? pathname === '/' : pathname.startsWith(to)}
              mb={2}
              style={{ borderRadius: 'var(--mantine-radius-md)' }}
            />
          ))}
        </AppShell.Section>
        <AppShell.Section>
          <Text size="xs" c="dimmed" p="xs">
            {text.app.keysHint}
          </Text>
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main">
        <Hold />
        <Box maw={1280} mx="auto">
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </Box>
      </AppShell.Main>
      {isIdle && (
        <Suspense>
          <Search />
          <KeysHelp opened={keys.opened} onClose={keys.close} />
        </Suspense>
      )}
    </AppShell>
  );
}

/** Whether the browser has had nothing to do once: Safari, which does not say so, after a second. */
function useFirstIdle(): boolean {
  const [isIdle, setIdle] = useState(false);
  useEffect(() => {
    if (!('requestIdleCallback' in window)) {
      const timer = setTimeout(() => setIdle(true), 1_000);
      return () => clearTimeout(timer);
    }
    const callback = requestIdleCallback(() => setIdle(true));
    return () => cancelIdleCallback(callback);
  }, []);
  return isIdle;
}

/** A hold begins and ends elsewhere: whoever waits for its end sees it soon. */
const HELD_POLL_MS = 5_000;
const POLL_MS = 60_000;

/** Says on every screen that nothing leaves. */
function Hold() {
  const { hold } = useSession();
  useQuery({ ...answerOf('getMe'), staleTime: 30_000, refetchInterval: hold.held ? HELD_POLL_MS : POLL_MS });
  if (!hold.held) return null;
  return (
    <Alert color="orange" mb="md" title={text.app.held}>
      {text.app.heldWhy(hold.reason)}
    </Alert>
  );
}
