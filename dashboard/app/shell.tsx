import { Alert, AppShell, Box, Burger, Group, NavLink, ScrollArea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useMatches } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { queryFor } from '../api/queries.ts';
import { text } from '../text/text.ts';
import { AccountMenu } from './account-menu.tsx';
import { findActiveLink, useSidebarGroups } from './nav.ts';
import { PendingScreen } from './pending-screen.tsx';
import { ProjectSwitch } from './project-switch.tsx';
import { SearchButton } from './search-button.tsx';
import { useSession } from './session.ts';
import { useShortcuts } from './shortcuts.ts';
import { useShownProject } from './shown-project.ts';

// Loaded after the first screen, because the search opens only on request.
const Search = lazy(() => import('./search.tsx').then((module) => ({ default: module.Search })));
const ShortcutsHelp = lazy(() => import('./shortcuts-help.tsx').then((module) => ({ default: module.ShortcutsHelp })));

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** Whether the screen is an editor that hides the sidebar. */
    isFullScreen?: boolean;
    /** Whether the screen shows one record, with a link back to its list. */
    isRecord?: boolean;
  }
}

/** The frame of every screen: sidebar, project, search and keys. Full-screen editors have no sidebar. */
export function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another screen closes the menu of a phone
  useEffect(close, [pathname]);
  const shortcuts = useShortcuts();
  const isIdle = useHasBeenIdle();
  const isShown = useShownProject();
  const nav = useSidebarGroups();
  const active = findActiveLink(
    nav.flatMap(({ links }) => links),
    pathname,
  );
  const isFullScreen = useMatches({ select: (matches) => matches.some(({ staticData }) => staticData.isFullScreen) });
  return (
    <AppShell
      disabled={isFullScreen}
      header={{ height: { base: 52, sm: 0 } }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={isFullScreen ? 0 : { base: 'md', sm: 'xl' }}
    >
      <a href="#main" className="skip-link">
        {text.app.toContent}
      </a>
      <AppShell.Header px="sm" hiddenFrom="sm">
        <Group h="100%" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <Burger opened={opened} onClick={toggle} size="sm" aria-label={text.app.menu} />
            <ProjectSwitch />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SearchButton />
            <AccountMenu onShortcuts={shortcuts.open} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className="sidebar" p="sm" aria-label={text.app.menu}>
        <AppShell.Section visibleFrom="sm" mb="sm">
          <ProjectSwitch />
          <SearchButton />
        </AppShell.Section>
        <AppShell.Section grow component={ScrollArea}>
          {nav.map(({ name, links }) => (
            <Box key={links[0]?.to} mt={name ? 0 : 4}>
              {name && <div className="sidebar-group">{name}</div>}
              {links.map(({ to, label, icon: Icon }) => (
                <NavLink
                  key={to}
                  component={Link}
                  to={to}
                  label={label}
                  className="sidebar-link"
                  leftSection={<Icon size={16} stroke={1.75} aria-hidden />}
                  // Marks only the longest matching path as current. The router would mark every path that matches.
                  activeOptions={{ exact: true }}
                  aria-current={to === active?.to ? 'page' : undefined}
                  active={to === active?.to}
                />
              ))}
            </Box>
          ))}
        </AppShell.Section>
        <AppShell.Section visibleFrom="sm" className="sidebar-account">
          <AccountMenu onShortcuts={shortcuts.open} isWide />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main" className={isFullScreen ? 'full-screen' : undefined}>
        <HoldBanner />
        <Box className="screen">{isShown ? <Outlet /> : <PendingScreen />}</Box>
      </AppShell.Main>
      {isIdle && (
        <Suspense>
          <Search />
          <ShortcutsHelp opened={shortcuts.opened} onClose={shortcuts.close} />
        </Suspense>
      )}
    </AppShell>
  );
}

/**
 * Tells whether the browser has been idle at least once since this component was mounted. Safari has no
 * `requestIdleCallback`, so there the result is true after one second.
 */
function useHasBeenIdle(): boolean {
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

/**
 * How often the session is read while the project is on hold, and otherwise. A hold may start or end without an action
 * of this user.
 */
const HELD_POLL_MS = 5_000;
const POLL_MS = 60_000;

/** While the project is on hold, shows a banner on every screen: which email waits, and the reason if there is one. */
function HoldBanner() {
  const { hold } = useSession();
  useQuery({ ...queryFor('getMe'), staleTime: 30_000, refetchInterval: hold.held ? HELD_POLL_MS : POLL_MS });
  if (!hold.held) return null;
  return (
    <Alert color="orange" mb="md" title={text.app.held}>
      {text.app.heldMeans}
      {hold.reason && <Box style={{ overflowWrap: 'anywhere' }}>{text.app.heldBecause(hold.reason)}</Box>}
    </Alert>
  );
}
