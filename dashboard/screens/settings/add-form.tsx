import { Box, Group, Paper } from '@mantine/core';
import type { FormEvent, ReactNode } from 'react';
import type { ApiFailure } from '../../api/client.ts';
import type { Permission } from '../../app/session.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Failed } from '../../parts/failed.tsx';

/** Height of a label above its field. The button is beside the fields, not beside their labels. */
const LABEL_PX = 23;

/** A short form above a list, with its fields in a row. A failure without a field is shown below. */
export function AddForm({
  action,
  label = action,
  needs,
  write: { isPending, error },
  isReady,
  onSubmit,
  children,
}: {
  /** The label of the button. */
  action: string;
  /** Label of the form, if the button alone is unclear. */
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
        <Group align="flex-start" gap="sm">
          {children}
          <Box mt={{ sm: LABEL_PX }}>
            <ActionButton needs={needs} type="submit" loading={isPending} disabled={!isReady}>
              {action}
            </ActionButton>
          </Box>
        </Group>
      </form>
      {error && error.fields.length === 0 && <Failed error={error} />}
    </Paper>
  );
}

/** Returns the API's error of a form field. */
export function findFieldError(failure: ApiFailure | null, name: string): string | undefined {
  return failure?.fields.find(({ field }) => field === name)?.message;
}
