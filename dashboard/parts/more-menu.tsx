import { ActionIcon, Menu, Text } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Permission } from '../app/session.ts';
import { text } from '../text/text.ts';
import { useMissingPermissionText } from './action-button.tsx';

/**
 * The "…" menu of a page or a row. The menu contains rare actions, and actions that delete or end something.
 * @param p.of the name of the row, so that screen readers can distinguish the menus of a list
 */
export function MoreMenu({ of, children }: { of?: string; children: ReactNode }) {
  const label = of === undefined ? text.parts.more : text.parts.moreOf(of.slice(0, 80));
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon
          variant={of === undefined ? 'default' : 'subtle'}
          color={of === undefined ? undefined : 'gray'}
          size={of === undefined ? 32 : 24}
          aria-label={label}
        >
          <IconDots size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}

/** One action of a "…" menu. If the role or `whyNot` disables it, the reason is below its name. */
export function MoreItem({
  icon: Icon,
  needs,
  whyNot,
  isDestructive = false,
  isPending = false,
  onClick,
  href,
  children,
}: {
  icon: typeof IconDots;
  /** The permission that the action needs, if any. */
  needs?: Permission | undefined;
  /** Why the action is not possible now, although the role permits it. */
  whyNot?: string | undefined;
  /** Whether the action deletes, ends or removes something. */
  isDestructive?: boolean;
  isPending?: boolean;
  /** Undefined disables the action, unless `href` is set. */
  onClick?: (() => void) | undefined;
  /** Downloads this URL instead of calling `onClick`. */
  href?: string;
  children: ReactNode;
}) {
  const reason = useMissingPermissionText(needs) ?? whyNot;
  const item = {
    leftSection: <Icon size={16} stroke={1.75} aria-hidden />,
    color: isDestructive ? 'red' : undefined,
    disabled: reason !== undefined || isPending || (onClick === undefined && href === undefined),
    maw: 300,
  };
  const label = (
    <>
      {children}
      {reason && (
        <Text size="xs" c="dimmed">
          {reason}
        </Text>
      )}
    </>
  );
  if (href !== undefined)
    return (
      <Menu.Item {...item} component="a" href={href} download>
        {label}
      </Menu.Item>
    );
  return (
    <Menu.Item {...item} onClick={onClick}>
      {label}
    </Menu.Item>
  );
}
