import { Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Curl, type CurlRequest } from './curl.tsx';

/** Says what to do where there is nothing yet, by hand (`action`) and by the API (`curl`). */
export function Empty({
  title,
  what,
  action,
  curl,
}: {
  title: string;
  what: ReactNode;
  action?: ReactNode;
  curl?: CurlRequest | undefined;
}) {
  return (
    <Paper withBorder p="xl">
      <Stack gap="sm" align="flex-start" maw={640}>
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text c="dimmed">{what}</Text>
        {action}
        {curl && <Curl {...curl} />}
      </Stack>
    </Paper>
  );
}
