import { Anchor, Box, Group, Text, Title } from '@mantine/core';
import { IconChevronLeft } from '@tabler/icons-react';
import { useRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { leadsBackTo } from '../app/trail.ts';
import { Breakable } from './breakable.tsx';

/** The header of a screen: title, way back to the list, and actions. It sets the title of the tab. */
export function PageHead({
  title,
  subtitle,
  actions,
  back,
}: {
  title: string;
  subtitle?: ReactNode;
  actions?: ReactNode;
  /** The list that the screen belongs to. If the user came from the list, the link back keeps its filters. */
  back?: { to: string; label: string };
}) {
  useEffect(() => {
    document.title = `${title.slice(0, 80)} · Tidings`;
  }, [title]);
  return (
    <Box mb="lg">
      {back && <Back {...back} />}
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box miw={0} style={{ flex: '1 1 240px' }}>
          <Title order={1} size="h2" lineClamp={3}>
            <Breakable text={title} />
          </Title>
          {subtitle && (
            <Text component="div" c="dimmed" size="sm" mt={4}>
              {subtitle}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
    </Box>
  );
}

function Back({ to, label }: { to: string; label: string }) {
  const router = useRouter();
  return (
    <Anchor
      href={`/app${to}`}
      size="sm"
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey) return;
        event.preventDefault();
        const { history } = router;
        const leadsThere = leadsBackTo(history, `/app${to}`) ?? history.canGoBack();
        if (leadsThere) history.back();
        else void router.navigate({ href: to });
      }}
    >
      <Group gap={2} component="span" mb={4} display="inline-flex">
        <IconChevronLeft size={14} aria-hidden />
        {label}
      </Group>
    </Anchor>
  );
}
