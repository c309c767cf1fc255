import { ActionIcon, Menu, Text, UnstyledButton, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { IconBook, IconKeyboard, IconLogout, IconMoon, IconSun, IconUserCircle } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useWrite } from '../api/queries.ts';
import { Avatar } from '../parts/avatar.tsx';
import { text } from '../text/text.ts';
import { useSession } from './session.ts';

/** The release of the dashboard, such as `0.1.0`. The build replaces the name (`vite.config.ts`). */
declare const RELEASE: string;

/**
 * Shows the signed-in user, and a menu with the color scheme, the keyboard shortcuts, the API reference, Sign out and
 * the release.
 * @param p.isWide shows the address beside the initials, at the end of the sidebar
 */
export function AccountMenu({ onShortcuts, isWide = false }: { onShortcuts: () => void; isWide?: boolean }) {
  const { email, role } = useSession();
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark';
  const navigate = useNavigate();
  const queries = useQueryClient();
  const logOut = useWrite('logOut', { changes: [] });
  const leave = () =>
    logOut.mutate(
      {},
      {
        onSettled: async () => {
          await navigate({ to: '/sign-in' });
          queries.clear();
        },
      },
    );
  return (
    <Menu position={isWide ? 'top-start' : 'bottom-end'} width={240}>
      <Menu.Target>
        {isWide ? (
          <UnstyledButton className="account" aria-label={text.app.account}>
            <Avatar of={email} />
            <Text size="xs" truncate title={email}>
              {email}
            </Text>
          </UnstyledButton>
        ) : (
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={text.app.account}>
            <IconUserCircle size={22} stroke={1.75} />
          </ActionIcon>
        )}
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" truncate>
            {email}
          </Text>
          <Text size="xs">{text.roles[role]}</Text>
        </Menu.Label>
        <Menu.Item
          leftSection={isDark ? <IconSun size={16} /> : <IconMoon size={16} />}
          onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
        >
          {isDark ? text.app.light : text.app.dark}
        </Menu.Item>
        <Menu.Item leftSection={<IconKeyboard size={16} />} onClick={onShortcuts}>
          {text.app.keys}
        </Menu.Item>
        <Menu.Item component="a" href="/docs" target="_blank" rel="noreferrer" leftSection={<IconBook size={16} />}>
          {text.developers.reference}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={leave}>
          {text.app.signOut}
        </Menu.Item>
        <Menu.Label>{text.app.release(RELEASE)}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  );
}
