import { Anchor, Box, Button, Group, Paper, SimpleGrid, Text, ThemeIcon, VisuallyHidden } from '@mantine/core';
import { useDisclosure, useLocalStorage } from '@mantine/hooks';
import { IconCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { Curl } from '../../parts/curl.tsx';
import type { CurlRequest } from '../../parts/curl-request.ts';
import { text } from '../../text/text.ts';
import { useFirstEmail } from '../messages/first-email.ts';
import { CardSection } from './card-section.tsx';
import { Section } from './section.tsx';

const words = text.home;
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

/**
 * First steps of a new project. Once most of them are done, they fold to a line with the next step, so that news comes
 * first. They disappear when all are done or the user hides them.
 */
export function Checklist() {
  const { projectId } = useSession();
  const [isHidden, hide] = useLocalStorage({ key: `tidings.checklist.${projectId}`, defaultValue: false });
  const [isUnfolded, { toggle }] = useDisclosure();
  const { data } = useQuery({
    ...queryFor('getChecklist'),
    enabled: !isHidden,
    refetchInterval: ({ state }) => (state.data?.done ? false : POLL_MS),
  });
  const next = data?.items.find(({ done }) => !done);
  if (isHidden || !data || data.done || !next) return null;
  const hideButton = (
    <Button size="compact-sm" variant="subtle" color="gray" onClick={() => hide(true)}>
      {words.hide}
    </Button>
  );
  const done = data.items.filter((item) => item.done).length;
  if (done <= data.items.length / 2) {
    return (
      <Section title={words.checklist} aside={hideButton}>
        <Paper withBorder p="md">
          <Steps items={data.items} next={next} />
        </Paper>
      </Section>
    );
  }
  const aside = (
    <Group gap={4}>
      <Button size="compact-sm" variant="subtle" color="gray" onClick={toggle} aria-expanded={isUnfolded}>
        {isUnfolded ? words.showFewer : words.showAll}
      </Button>
      {hideButton}
    </Group>
  );
  return (
    <CardSection title={words.checklist} aside={aside}>
      {isUnfolded ? (
        <div className="card-block">
          <Steps items={data.items} next={next} />
        </div>
      ) : (
        <div className="card-row">
          <Text span inherit c="dimmed">
            {words.doneOf(done, data.items.length)}
          </Text>
          <Text span inherit>
            {words.next} <AppLink to={PLACES[next.key]}>{words.items[next.key].title}</AppLink>
          </Text>
        </div>
      )}
    </CardSection>
  );
}

function Steps({ items, next }: { items: Item[]; next: Item }) {
  const firstEmail = useFirstEmail({ enabled: next.key === 'mail' });
  const curl = next.key === 'mail' ? firstEmail : CURLS[next.key];
  return (
    <>
      <Text size="sm" c="dimmed" mb="md">
        {words.checklistWhat}
      </Text>
      <SimpleGrid
        cols={{ base: 1, sm: 2, lg: 3 }}
        spacing="md"
        component="ol"
        p={0}
        m={0}
        style={{ listStyle: 'none' }}
      >
        {items.map((item) => (
          <Step key={item.key} item={item} />
        ))}
      </SimpleGrid>
      {curl && (
        <Box mt="md">
          <Curl {...curl} />
        </Box>
      )}
    </>
  );
}

function Step({ item: { key, done } }: { item: Item }) {
  const { title, what } = words.items[key];
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
        <VisuallyHidden>{done ? words.done : words.open}</VisuallyHidden>
        <Text size="sm" c="dimmed">
          {what}
        </Text>
      </Box>
    </Group>
  );
}
