import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Permission } from '../app/session.ts';
import { text } from '../text/text.ts';
import { useWhyNot } from './action-button.tsx';

/** Shows what a role may not see as what it is, with the reason, and asks the API for nothing. */
export function Needs({ permission, children }: { permission: Permission; children: ReactNode }) {
  const whyNot = useWhyNot(permission);
  if (whyNot === undefined) return <>{children}</>;
  return (
    <Alert color="gray" title={text.settings.notSeen}>
      {whyNot}
    </Alert>
  );
}
