import { Alert, Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';

/** Says that the form shows unsaved changes from this browser, and offers to discard them. */
export function RestoredDraft(p: { children: ReactNode; discardLabel: string; onDiscard: () => void }) {
  return (
    <Alert color="blue" p="xs">
      <Group justify="space-between">
        {p.children}
        <Button size="compact-sm" variant="default" onClick={p.onDiscard}>
          {p.discardLabel}
        </Button>
      </Group>
    </Alert>
  );
}
