import { Anchor, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { text } from '../text/text.ts';

/** Shown instead of a screen or record that does not exist. */
export function NotFound() {
  return (
    <Stack p="xl" gap="xs" align="flex-start">
      <Title order={1} size="h2">
        {text.app.notFound}
      </Title>
      <Text c="dimmed">{text.app.notFoundWhy}</Text>
      <Anchor component={Link} to="/">
        {text.app.toHome}
      </Anchor>
    </Stack>
  );
}
