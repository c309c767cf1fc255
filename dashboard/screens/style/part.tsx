import { Paper, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A titled group of samples. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Title order={2} size="h4" mb="sm">
        {title}
      </Title>
      <Paper withBorder p="md">
        <Stack gap="sm">{children}</Stack>
      </Paper>
    </section>
  );
}
