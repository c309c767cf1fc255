import { Group, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ResponseOf } from '../../../api/client.ts';
import { queryFor, useWrite } from '../../../api/queries.ts';
import { ActionButton } from '../../../parts/action-button.tsx';
import { CardSection } from '../../../parts/card-section.tsx';
import { Instant } from '../../../parts/instant.tsx';
import { notifyWithUndo, runAfterWrite } from '../../../parts/notifications.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { WordBadge, WordText } from '../../../parts/word-badge.tsx';
import { text } from '../../../text/text.ts';
import { CONTACT_CHANGED } from './contact-changed.ts';
import type { Contact } from './contact-type.ts';
import { describeActor } from './describe-actor.ts';

const words = text.contacts.subscription;
type Subscription = ResponseOf<'getContactSubscription'>;

/** Shows whether the contact gets email, who decided that and when, and its entries on the suppression list. */
export function ContactSubscription({ contact }: { contact: Contact }) {
  const subscription = useQuery(queryFor('getContactSubscription', { params: { id: contact.id } }));
  return (
    <CardSection title={words.title} isPadded aside={<Switch contact={contact} />}>
      <QueryView of={subscription} height={90}>
        {(loaded) => (
          <Stack gap="sm">
            <Changes {...loaded} hasPhone={Boolean(contact.data.phone)} />
            <Suppressions email={contact.email} {...loaded} />
          </Stack>
        )}
      </QueryView>
    </CardSection>
  );
}

function Switch({ contact: { id, subscribed } }: { contact: Contact }) {
  const save = useWrite('updateContact', { changes: CONTACT_CHANGED });
  const undo = useWrite('updateContact', { changes: CONTACT_CHANGED });
  const params = { id };
  const change = () =>
    runAfterWrite(save.mutateAsync({ params, body: { subscribed: !subscribed } }), () =>
      notifyWithUndo(subscribed ? words.unsubscribed : words.subscribed, () =>
        undo.mutateAsync({ params, body: { subscribed } }),
      ),
    );
  return (
    <ActionButton needs="contacts:edit" size="compact-sm" variant="default" loading={save.isPending} onClick={change}>
      {subscribed ? words.unsubscribe : words.subscribe}
    </ActionButton>
  );
}

function Changes({
  subscription,
  smsSubscribed,
  changes: [last, ...before],
  hasPhone,
}: Subscription & { hasPhone: boolean }) {
  return (
    <Stack gap={6}>
      <Group gap="xs">
        <WordBadge kind="subscription" value={subscription} />
        <Text size="sm">{last ? <Change change={last} /> : words.asCreated}</Text>
      </Group>
      {before.length > 0 && (
        <details>
          <Text component="summary" size="sm" c="dimmed">
            {words.before} ({before.length})
          </Text>
          <List size="sm" mt={4}>
            {before.map((change) => (
              <List.Item key={`${change.at} ${change.subscribed}`}>
                <Change change={change} />
              </List.Item>
            ))}
          </List>
        </details>
      )}
      <Text size="sm" c="dimmed">
        {words.sms}: {!smsSubscribed ? words.smsOff : hasPhone ? words.smsOn : words.noPhone}
      </Text>
    </Stack>
  );
}

function Change({ change: { at, subscribed, actor, actorName, reason } }: { change: Subscription['changes'][number] }) {
  const word = subscribed ? text.contacts.statuses.subscribed : text.contacts.statuses.unsubscribed;
  return (
    <>
      {words.changedBy(word, describeActor(actor, actorName))}, <Instant at={at} />{' '}
      <WordBadge kind="change" value={reason} />
    </>
  );
}

function Suppressions({ email, suppressions }: Subscription & { email: string }) {
  const changes = ['getContactSubscription', 'listSuppressions', ...CONTACT_CHANGED] as const;
  const add = useWrite('addSuppression', { changes });
  const lift = useWrite('deleteSuppression', { changes });
  const params = { email };
  const reasons = suppressions.map(({ reason }) => reason);
  // A restored entry gets today's date. Only manual entries can be restored exactly.
  const restore = () => Promise.all(reasons.map((reason) => add.mutateAsync({ body: { email, reason } })));
  return (
    <Stack gap={6}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {words.suppression}
        </Text>
        {suppressions.length > 0 ? (
          <ActionButton
            needs="contacts:edit"
            size="compact-sm"
            variant="default"
            loading={lift.isPending}
            onClick={() => runAfterWrite(lift.mutateAsync({ params }), () => notifyWithUndo(words.lifted, restore))}
          >
            {words.lift}
          </ActionButton>
        ) : (
          <ActionButton
            needs="contacts:edit"
            size="compact-sm"
            variant="default"
            loading={add.isPending}
            onClick={() =>
              runAfterWrite(add.mutateAsync({ body: { email, reason: 'manual' } }), () =>
                notifyWithUndo(words.suppressed, () => lift.mutateAsync({ params })),
              )
            }
          >
            {words.suppress}
          </ActionButton>
        )}
      </Group>
      {suppressions.length === 0 && (
        <Text size="sm" c="dimmed">
          {words.notSuppressed}
        </Text>
      )}
      {suppressions.map(({ id, reason, source, actor, actorName, createdAt }) => (
        <Group key={id} gap="xs">
          <WordBadge kind="suppression" value={reason} />
          <Text size="sm">
            {actor ? describeActor(actor, actorName) : <WordText kind="source" value={source} />},{' '}
            <Instant at={createdAt} />
          </Text>
        </Group>
      ))}
    </Stack>
  );
}
