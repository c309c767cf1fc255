import { Anchor, Box, Button, Group, Paper, SimpleGrid, Text, ThemeIcon, VisuallyHidden } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { Curl } from '../../parts/curl.tsx';
import type { CurlRequest } from '../../parts/curl-request.ts';
import { text } from '../../text/text.ts';
import { useFirstEmail } from '../messages/first-mail.ts';
import { Section } from './section.tsx';

type Item = ResponseOf<'getChecklist'>['items'][number];

/**
 * Interval of refreshes while a step is open, so that a step that the user finishes in a terminal is checked off
 * soon.
 */
const POLL_MS = 4_000;

const PLACES: Record<Item['key'], string> = {
  domain: '/settings/domains',
  contact: '/contacts',
  template: '/templates',
  mail: '/messages',
  event: '/developers/events',
  automation: '/automations',
};

const CURLS: Partial<Record<Item['key'], CurlRequest>> = {
  event: { method: 'POST', path: '/v1/track', body: { email: 'ada@example.com', event: 'signed_up' } },
};

/** First steps of a new project. The list disappears when all steps are done or the user hides it. */
export function Checklist() {
  const { projectId } = useSession();
  const [isHidden, hide] = useLocalStorage({ key: `tidings.checklist.${projectId}`, defaultValue: false });
  const { data } = useQuery({
    ...queryFor('getChecklist'),
    enabled: !isHidden,
    refetchInterval: ({ state }) => (state.data?.done ? false : POLL_MS),
  });
  const nextKey = data?.items.find(({ done }) => !done)?.key;
  const firstEmail = useFirstEmail({ enabled: !isHidden && nextKey === 'mail' });
  if (isHidden || !data || data.done) return null;
  const curl = nextKey === 'mail' ? firstEmail : nextKey && CURLS[nextKey];
  const hideButton = (
    <Button size="compact-sm" variant="subtle" color="gray" onClick={() => hide(true)}>
      {text.home.hide}
    </Button>
  );
  return (
    <Section title={text.home.checklist} aside={hideButton}>
      <Paper withBorder p="md">
        <Text size="sm" c="dimmed" mb="md">
          {text.home.checklistWhat}
        </Text>
        <SimpleGrid
          cols={{ base: 1, sm: 2, lg: 3 }}
          spacing="md"
          component="ol"
          p={0}
          m={0}
          style={{ listStyle: 'none' }}
        >
          {data.items.map((item) => (
            <Step key={item.key} item={item} />
          ))}
        </SimpleGrid>
        {curl && (
          <Box mt="md">
            <Curl {...curl} />
          </Box>
        )}
      </Paper>
    </Section>
  );
}

function Step({ item: { key, done } }: { item: Item }) {
  const { title, what } = text.home.items[key];
  return (
    <Group component="li" wrap="nowrap" align="flex-start" gap="sm">
      <ThemeIcon radius="xl" size="sm" color={done ? 'green' : 'gray'} variant={done ? 'filled' : 'light'} mt={2}>
        {done && <IconCheck size={14} aria-hidden />}
      </ThemeIcon>
      <Box miw={0}>
        {done ? (
          <Text td="line-through" c="dimmed">
            {title}
          </Text>
        ) : (
          <Anchor component={Link} to={PLACES[key]}>
            {title}
          </Anchor>
        )}
        <VisuallyHidden>{done ? text.home.done : text.home.open}</VisuallyHidden>
        <Text size="sm" c="dimmed">
          {what}
        </Text>
      </Box>
    </Group>
  );
}
