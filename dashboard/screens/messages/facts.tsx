import { Box, Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

/** A group of facts with a header. */
export function Facts({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <Box component="section" aria-labelledby={id}>
      <Title order={2} size="h5" id={id} mb={6}>
        {title}
      </Title>
      <Stack gap={4}>{children}</Stack>
    </Box>
  );
}

/** A labeled value. */
export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Group justify="space-between" gap="xs" wrap="nowrap" align="baseline">
      <Text size="sm" c="dimmed" maw="50%" style={{ flex: 'none' }}>
        {name}
      </Text>
      <Text size="sm" component="div" ta="right" miw={0} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </Group>
  );
}
