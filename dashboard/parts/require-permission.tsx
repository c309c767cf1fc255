import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Permission } from '../app/session.ts';
import { text } from '../text/text.ts';
import { useMissingPermissionText } from './action-button.tsx';

/**
 * Shows its children if the user's role has the permission, or if no permission is given. Otherwise explains which
 * permission is missing. Hidden children send no request.
 */
export function RequirePermission({
  permission,
  children,
}: {
  permission: Permission | undefined;
  children: ReactNode;
}) {
  const whyNot = useMissingPermissionText(permission);
  if (whyNot === undefined) return <>{children}</>;
  return (
    <Alert color="gray" title={text.settings.notSeen}>
      {whyNot}
    </Alert>
  );
}
