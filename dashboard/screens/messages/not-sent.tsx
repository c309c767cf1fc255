import { Alert, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { findWord } from '../../text/words.ts';

/** Says in words why a message was not sent or not delivered: red if something failed, gray if a rule held it back. */
export function NotSent({ reason, children }: { reason: string; children?: ReactNode }) {
  const word = findWord('reason', reason);
  return (
    <Alert color={word?.color === 'red' ? 'red' : 'gray'} mb="md">
      <Group justify="space-between" gap="4px 16px">
        <Text span inherit fw={600}>
          {word?.means ?? reason}
        </Text>
        {children}
      </Group>
    </Alert>
  );
}
