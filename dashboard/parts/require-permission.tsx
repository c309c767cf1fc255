import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Permission } from '../app/session.ts';
import { text } from '../text/text.ts';
import { useWhyNot } from './action-button.tsx';

/** Shows its children if the role has the permission, else the reason why not. Hidden children send no request. */
export function RequirePermission({ permission, children }: { permission: Permission; children: ReactNode }) {
  const whyNot = useWhyNot(permission);
  if (whyNot === undefined) return <>{children}</>;
  return (
    <Alert color="gray" title={text.settings.notSeen}>
      {whyNot}
    </Alert>
  );
}
