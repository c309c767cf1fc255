import { Anchor, Box, Group, Text, Title } from '@mantine/core';
import { IconChevronLeft } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { type BackLink, useBackLink, useTabTitle } from './back-link.ts';
import { Breakable } from './breakable.tsx';
import { formatCount } from './count-link.tsx';

/** The header of a screen: title, link back to the list, and actions. It sets the title of the browser tab. */
export function PageHead({
  title,
  count,
  status,
  subtitle,
  actions,
  back,
}: {
  title: string;
  /** The number of records in the list, shown beside the title. */
  count?: number | null | undefined;
  /** The status of the record, beside the title. */
  status?: ReactNode;
  subtitle?: ReactNode;
  actions?: ReactNode;
  back?: BackLink;
}) {
  useTabTitle(title);
  return (
    <Box mb="lg">
      {back && <BackToList {...back} />}
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box miw={0} style={{ flex: '1 1 240px' }}>
          <Group gap="4px 10px" align="center">
            <Title order={1} size="h2" lineClamp={3}>
              <Breakable text={title} />
            </Title>
            {typeof count === 'number' && (
              <Text span c="dimmed" className="page-count">
                {formatCount(count)}
              </Text>
            )}
            {status}
          </Group>
          {subtitle && (
            <Text component="div" c="dimmed" size="sm" mt={4}>
              {subtitle}
            </Text>
          )}
        </Box>
        {actions && (
          <Group gap="xs" className="page-actions">
            {actions}
          </Group>
        )}
      </Group>
    </Box>
  );
}

/** The link above the title of a record's page. */
export function BackToList(back: BackLink) {
  const link = useBackLink(back);
  return (
    <Anchor {...link} size="xs" className="way-back">
      <Group gap={2} component="span" mb={4} display="inline-flex">
        <IconChevronLeft size={14} aria-hidden />
        {back.label}
      </Group>
    </Anchor>
  );
}
