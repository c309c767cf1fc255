import { Box, Group, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

/** A section of a screen with a header. */
export function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <Box component="section" aria-labelledby={id}>
      <Group justify="space-between" gap="0 16px" mb="sm">
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        {aside}
      </Group>
      {children}
    </Box>
  );
}
