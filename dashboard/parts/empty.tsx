import { Box, Paper, Stack, Text, Title } from '@mantine/core';
import { IconInbox } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { text } from '../text/text.ts';
import { Curl } from './curl.tsx';
import type { CurlRequest } from './curl-request.ts';

/**
 * Empty state: an icon, the first action in the dashboard (`action`), and, collapsed, the same request to the API
 * (`curl`).
 */
export function Empty({
  icon: Icon = IconInbox,
  title,
  what,
  action,
  curl,
}: {
  icon?: typeof IconInbox;
  title: string;
  what: ReactNode;
  action?: ReactNode;
  curl?: CurlRequest | undefined;
}) {
  return (
    <Paper withBorder p="xl">
      <Stack gap={4} align="center" ta="center" maw={560} mx="auto" py="lg">
        <Icon size={40} stroke={1.25} color="var(--color-accent)" aria-hidden />
        <Title order={2} size="h4" mt="sm">
          {title}
        </Title>
        <Text size="sm" c="dimmed">
          {what}
        </Text>
        {action && <Box mt="md">{action}</Box>}
        {curl && (
          <Box component="details" w="100%" ta="left" mt="md">
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
