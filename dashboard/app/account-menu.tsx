import { ActionIcon, Menu, Text, useMantineColorScheme } from '@mantine/core';
import { IconKeyboard, IconLogout, IconMoon, IconSun, IconUserCircle } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useWrite } from '../api/queries.ts';
import { text } from '../text/text.ts';
import { useSession } from './session.ts';

/** Who is signed in, light or dark, keys, signing out. */
export function AccountMenu({ onKeys }: { onKeys: () => void }) {
  const { email, role } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const isDark = colorScheme === 'dark';
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
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon variant="subtle" size="lg" aria-label={text.app.account}>
          <IconUserCircle size={22} stroke={1.7} />
        </ActionIcon>
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
        <Menu.Item leftSection={<IconKeyboard size={16} />} onClick={onKeys}>
          {text.app.keys}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={leave}>
          {text.app.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
