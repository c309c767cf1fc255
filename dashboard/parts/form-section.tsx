import { Box, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/**
 * A part of a long form: its title and purpose on the left, its fields on the right. A phone shows them in a column.
 */
export function FormSection({ title, what, children }: { title: string; what?: ReactNode; children: ReactNode }) {
  return (
    <Box component="section" aria-label={title} className="form-section">
      <div>
        <Title order={2} size="h4">
          {title}
        </Title>
        {what && (
          <Text size="sm" c="dimmed" mt={4}>
            {what}
          </Text>
        )}
      </div>
      <Stack maw={560}>{children}</Stack>
    </Box>
  );
}
