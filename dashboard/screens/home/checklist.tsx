import { Box, Button, Group, Progress, Text, VisuallyHidden } from '@mantine/core';
import { useDisclosure, useLocalStorage } from '@mantine/hooks';
import { IconCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { CardSection } from '../../parts/card-section.tsx';
import { Curl } from '../../parts/curl.tsx';
import type { CurlRequest } from '../../parts/curl-request.ts';
import { text } from '../../text/text.ts';
import { useFirstEmail } from '../messages/first-email.ts';

const words = text.home;
type Item = ResponseOf<'getChecklist'>['items'][number];

/**
 * Interval of refreshes while a step is open, so that a step that the user finishes in a terminal is checked off
 * soon.
 */
const POLL_MS = 4_000;

const SCREENS: Record<Item['key'], string> = {
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
 * The checklist with the first steps of a new project. Once most steps are done, the checklist shows only the next step
 * in one line, to leave space for news. The checklist disappears when all steps are done or the user hides it.
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
  const done = data.items.filter((item) => item.done).length;
  const isFoldable = done > data.items.length / 2;
  const aside = (
    <Group gap={4} wrap="nowrap">
      <Progress value={(100 * done) / data.items.length} w={96} visibleFrom="sm" aria-hidden />
      <Text size="xs" c="dimmed" ml="xs" mr={4}>
        {words.doneOf(done, data.items.length)}
      </Text>
      {isFoldable && (
        <Button size="compact-sm" variant="subtle" color="gray" onClick={toggle} aria-expanded={isUnfolded}>
          {isUnfolded ? words.showFewer : words.showAll}
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" color="gray" onClick={() => hide(true)}>
        {words.hide}
      </Button>
    </Group>
  );
  return (
    <CardSection title={words.checklist} className="names" aside={aside}>
      {isFoldable && !isUnfolded ? (
        <div className="card-row">
          <Text span inherit>
            {words.next} <AppLink to={SCREENS[next.key]}>{words.items[next.key].title}</AppLink>
          </Text>
        </div>
      ) : (
        <Steps items={data.items} next={next} />
      )}
    </CardSection>
  );
}

function Steps({ items, next }: { items: Item[]; next: Item }) {
  return (
    <Box component="ol" p={0} m={0} className="steps">
      {items.map((item) => (
        <Step key={item.key} item={item} isNext={item === next} />
      ))}
    </Box>
  );
}

/** One step. The next open step also has a button and, if the API can do it, the API request. */
function Step({ item: { key, done }, isNext }: { item: Item; isNext: boolean }) {
  const firstEmail = useFirstEmail({ enabled: isNext && key === 'mail' });
  const curl = isNext && (key === 'mail' ? firstEmail : CURLS[key]);
  const { title, what } = words.items[key];
  return (
    <li className="card-block" data-state={done ? 'done' : isNext ? 'next' : undefined}>
      <span className="step-mark" aria-hidden>
        {done && <IconCheck size={12} stroke={2.5} />}
      </span>
      <Box miw={0} flex={1}>
        {done ? (
          <Text size="sm" c="dimmed">
            {title}
          </Text>
        ) : (
          <AppLink to={SCREENS[key]}>{title}</AppLink>
        )}
        <VisuallyHidden>{done ? words.done : words.open}</VisuallyHidden>
        {!done && (
          <Text size="sm" c="dimmed">
            {what}
          </Text>
        )}
        {isNext && (
          <Button component={Link} to={SCREENS[key]} variant="default" size="xs" mt="xs">
            {words.actions[key]}
          </Button>
        )}
        {curl && (
          <Box mt="sm">
            <Curl {...curl} />
          </Box>
        )}
      </Box>
    </li>
  );
}
