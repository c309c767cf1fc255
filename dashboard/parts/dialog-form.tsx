import { Button, Group, Stack } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import { text } from '../text/text.ts';
import { ignoreDoubleClick } from './action-button.tsx';
import { Failed } from './failed.tsx';

/** The form of a dialog: its fields, the API's error, and its buttons. If the request fails, the dialog stays open. */
export function DialogForm({
  action,
  isReady,
  write: { isPending, error },
  onSubmit,
  onCancel,
  color,
  children,
}: {
  action: string;
  /** Whether every required field is filled in. */
  isReady: boolean;
  write: { isPending: boolean; error: unknown };
  onSubmit: () => void;
  /** Adds a Cancel button. */
  onCancel?: () => void;
  /** Color of the submit button, such as `red.9` if the action cannot be undone. */
  color?: string | undefined;
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
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              {text.parts.cancel}
            </Button>
          )}
          <Button
            type="submit"
            {...(color && { color })}
            loading={isPending}
            disabled={!isReady}
            onClick={ignoreDoubleClick()}
          >
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
