import { Stack, Switch, Text, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { queryFor, useWrite } from '../../../api/queries.ts';
import { useMissingPermissionText } from '../../../parts/action-button.tsx';
import { CardSection } from '../../../parts/card-section.tsx';
import { notifyWithUndo, runAfterWrite } from '../../../parts/notifications.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { text } from '../../../text/text.ts';
import { CONTACT_CHANGED } from './contact-changed.ts';
import type { Contact } from './contact-type.ts';

const words = text.contacts.topics;

/** The topics that the contact is subscribed to. */
export function ContactTopics({ contact: { id, topics } }: { contact: Contact }) {
  const allTopics = useQuery({ ...queryFor('listTopics', { query: { limit: 100 } }), staleTime: 60_000 });
  const whyNot = useMissingPermissionText('contacts:edit');
  const save = useWrite('updateContact', { changes: CONTACT_CHANGED });
  const undo = useWrite('updateContact', { changes: CONTACT_CHANGED });
  const params = { id };
  const change = (topicId: string, name: string, on: boolean) =>
    runAfterWrite(save.mutateAsync({ params, body: { topics: { [topicId]: on } } }), () =>
      notifyWithUndo(on ? words.joined(name) : words.left(name), () =>
        undo.mutateAsync({ params, body: { topics: { [topicId]: !on } } }),
      ),
    );
  return (
    <CardSection title={words.title} isPadded>
      <QueryView of={allTopics} height={40}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              {words.none}
            </Text>
          ) : (
            <Stack gap="xs">
              {data.map(({ id: topicId, name }) => (
                <Tooltip key={topicId} label={whyNot} disabled={!whyNot}>
                  <Switch
                    label={<span style={{ overflowWrap: 'anywhere' }}>{name}</span>}
                    checked={topics[topicId] === true}
                    disabled={whyNot !== undefined || save.isPending}
                    onChange={(event) => change(topicId, name, event.currentTarget.checked)}
                  />
                </Tooltip>
              ))}
            </Stack>
          )
        }
      </QueryView>
    </CardSection>
  );
}
