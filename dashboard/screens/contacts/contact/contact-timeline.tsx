import { Box, Button, Group, Stack, Text, ThemeIcon } from '@mantine/core';
import { IconArrowsSplit2, IconBolt, IconDeviceMobileMessage, IconMail, IconUserCheck } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ItemOf, infiniteQueryFor, queryFor, useWrite } from '../../../api/queries.ts';
import { ActionButton } from '../../../parts/action-button.tsx';
import { AppLink } from '../../../parts/app-link.tsx';
import { CardSection } from '../../../parts/card-section.tsx';
import { Failed } from '../../../parts/failed.tsx';
import { ExactTime } from '../../../parts/instant.tsx';
import { JsonView } from '../../../parts/json-view.tsx';
import { notifySuccess, runAfterWrite } from '../../../parts/notifications.tsx';
import { PendingLines } from '../../../parts/pending-lines.tsx';
import { WordBadge } from '../../../parts/word-badge.tsx';
import { text } from '../../../text/text.ts';
import { findWord } from '../../../text/words.ts';
import { CONTACT_CHANGED } from './contact-changed.ts';
import { describeActor } from './describe-actor.ts';
import { toTimelineLine } from './timeline-item.ts';

const words = text.contacts.timeline;
const POLL_MS = 10_000;

type Item = ItemOf<'listContactTimeline'>;

/** The contact's events, newest first, each with its cause. */
export function ContactTimeline({ contactId }: { contactId: string }) {
  const params = { id: contactId };
  const pages = useInfiniteQuery({ ...infiniteQueryFor('listContactTimeline', { params }), refetchInterval: POLL_MS });
  // This response has the name of the user who changed the subscription.
  const subscription = useQuery(queryFor('getContactSubscription', { params }));
  const names = new Map(subscription.data?.changes.map(({ actor, actorName }) => [actor, actorName]));
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = pages;
  const items = data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <CardSection title={words.title} isPadded>
      {!data && (error ? <Failed error={error} retry={() => void refetch()} /> : <PendingLines height={160} />)}
      {data && items.length === 0 && (
        <Text size="sm" c="dimmed">
          {words.none}. {words.noneHelp}
        </Text>
      )}
      <Stack component="ol" gap="sm" p={0} m={0} style={{ listStyle: 'none' }} aria-label={words.caption}>
        {items.map((item) => (
          <Entry key={item.id} item={item} contactId={contactId} nameOf={(actor) => names.get(actor) ?? null} />
        ))}
      </Stack>
      {hasNextPage && (
        <Button variant="default" size="xs" mt="sm" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {text.parts.showMore}
        </Button>
      )}
    </CardSection>
  );
}

/**
 * Shows how often a caller asked with the publishable key to unsubscribe the contact, and a button that unsubscribes
 * the contact.
 */
function ApplyRequest({ contactId, payload }: { contactId: string; payload: object | undefined }) {
  const save = useWrite('updateContact', { changes: CONTACT_CHANGED });
  const count = payload && 'requests' in payload ? Number(payload.requests) : 1;
  const unsubscribe = () =>
    runAfterWrite(save.mutateAsync({ params: { id: contactId }, body: { subscribed: false } }), () =>
      notifySuccess(text.contacts.subscription.unsubscribed),
    );
  return (
    <Group gap="xs" mt={4}>
      <Text size="xs" c="dimmed">
        {words.requests(count)}
      </Text>
      <ActionButton
        needs="contacts:edit"
        size="compact-xs"
        variant="default"
        loading={save.isPending}
        onClick={unsubscribe}
      >
        {words.applyUnsubscribe}
      </ActionButton>
    </Group>
  );
}

function Entry({
  item,
  contactId,
  nameOf,
}: {
  item: Item;
  contactId: string;
  nameOf: (actor: string) => string | null;
}) {
  const { type, timestamp, metadata } = item;
  const line = toTimelineLine(item);
  const { actor, data } = metadata;
  const Icon = getIcon(type);
  const payload = typeof data === 'object' && data !== null && Object.keys(data).length > 0 ? data : undefined;
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="flex-start">
      <ThemeIcon variant="light" size="md" radius="xl" color={getColor(item)} aria-hidden style={{ flex: 'none' }}>
        <Icon size={15} />
      </ThemeIcon>
      <Box miw={0} flex={1} className="names" style={{ overflowWrap: 'anywhere' }}>
        <Group gap={6}>
          <Text size="sm" component="div">
            {line.to ? <AppLink to={line.to}>{line.title}</AppLink> : line.title}
          </Text>
          {line.words.map(({ kind, value }) => (
            <WordBadge key={`${kind} ${value}`} kind={kind} value={value} />
          ))}
        </Group>
        <Text size="xs" c="dimmed" component="div">
          <ExactTime at={timestamp} />
          {line.cause && (
            <>
              {' · '}
              {words.because}{' '}
              <AppLink to={line.cause.to} underline="always">
                {line.cause.label}
              </AppLink>
            </>
          )}
          {typeof actor === 'string' && ` · ${describeActor(actor, nameOf(actor))}`}
        </Text>
        {type === 'contact.unsubscribe_requested' && <ApplyRequest contactId={contactId} payload={payload} />}
        {type === 'event.triggered' && payload && (
          <details>
            <Text component="summary" size="xs" c="dimmed">
              {words.details}
            </Text>
            <JsonView value={payload} maxHeight={240} />
          </details>
        )}
      </Box>
    </Group>
  );
}

function getIcon(type: string) {
  if (type.startsWith('email.')) return IconMail;
  if (type.startsWith('sms.')) return IconDeviceMobileMessage;
  if (type.startsWith('workflow.')) return IconArrowsSplit2;
  return type.startsWith('contact.') ? IconUserCheck : IconBolt;
}

/** Skipped emails are gray: a rule of the project held them back. */
function getColor({ type, metadata }: Item): string {
  if (type === 'email.failed') return findWord('reason', String(metadata.reason))?.color ?? 'red';
  if (/bounced|complained|failed/.test(type)) return 'red';
  if (/opened|clicked|subscribed$/.test(type)) return 'green';
  return type.startsWith('workflow.') ? 'violet' : 'blue';
}
