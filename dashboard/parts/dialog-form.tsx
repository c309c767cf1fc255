import { Button, Group, Stack } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { onFirstClick } from './action-button.tsx';
import { Failed } from './failed.tsx';

/** The form of a dialog: its fields, the error of the API, and the submit button. */
export function DialogForm({
  action,
  isReady,
  write: { isPending, error },
  onSubmit,
  children,
}: {
  action: string;
  /** Whether every required field is filled in. */
  isReady: boolean;
  write: { isPending: boolean; error: unknown };
  onSubmit: () => void;
  children: ReactNode;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) onSubmit();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {children}
        {error !== null && error !== undefined && <Failed error={error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={isPending} disabled={!isReady} onClick={onFirstClick()}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
