import { Anchor, type AnchorProps } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Breakable } from './breakable.tsx';

/**
 * A link to any path of the app, such as `/contacts/<id>`. Screens use it to link to screens whose routes they do
 * not import.
 */
export function AppLink({ to, children, ...anchor }: AnchorProps & { to: string; children: ReactNode }) {
  const router = useRouter();
  return (
    <Anchor
      inherit={anchor.size === undefined}
      {...anchor}
      href={`/app${to}`}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        void router.navigate({ href: to });
      }}
    >
      {typeof children === 'string' ? <Breakable text={children} /> : children}
    </Anchor>
  );
}
