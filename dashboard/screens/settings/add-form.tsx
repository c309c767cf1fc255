import { Group, Paper } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import type { ApiFailure } from '../../api/client.ts';
import type { Permission } from '../../app/session.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Failed } from '../../parts/failed.tsx';

/** A short form above a list, whose fields stand in a row; a failure that names no field of it is shown below. */
export function AddForm({
  action,
  label = action,
  needs,
  write: { isPending, error },
  isReady,
  onSubmit,
  children,
}: {
  /** On the button. */
  action: string;
  /** What the form is for, where the button alone does not say so. */
  label?: string;
  needs: Permission;
  write: { isPending: boolean; error: ApiFailure | null };
  isReady: boolean;
  onSubmit: () => void;
  children: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) onSubmit();
  };
  return (
    <Paper withBorder p="sm" mb="md">
      <form onSubmit={submit} aria-label={label}>
        <Group align="flex-end" gap="sm">
          {children}
          <ActionButton needs={needs} type="submit" loading={isPending} disabled={!isReady}>
            {action}
          </ActionButton>
        </Group>
      </form>
      {error && error.fields.length === 0 && <Failed error={error} />}
    </Paper>
  );
}

/** What the API says of a field of a form. */
export function faultIn(failure: ApiFailure | null, name: string): string | undefined {
  return failure?.fields.find(({ field }) => field === name)?.message;
}
