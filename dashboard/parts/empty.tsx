import { Box, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { text } from '../text/text.ts';
import { Curl } from './curl.tsx';
import type { CurlRequest } from './curl-request.ts';

/** Empty state: says what to do first, by hand (`action`) and by the API (`curl`). */
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
      <Stack gap="sm" align="center" ta="center" maw={560} mx="auto" py="lg">
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text c="dimmed">{what}</Text>
        {action}
        {curl && (
          <Box component="details" w="100%" ta="left">
            <Text component="summary" size="sm" c="dimmed" ta="center">
              {text.parts.byApi}
            </Text>
            <Curl {...curl} />
          </Box>
        )}
      </Stack>
    </Paper>
  );
}
