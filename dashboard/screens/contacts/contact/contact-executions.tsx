import { Anchor, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ItemOf, queryFor } from '../../../api/queries.ts';
import { useSession } from '../../../app/session.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { CardSection } from '../../../parts/card-section.tsx';
import { Instant } from '../../../parts/instant.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { ReasonText, WordBadge } from '../../../parts/word-badge.tsx';
import { text } from '../../../text/text.ts';
import { getLabel } from '../../../text/words.ts';

const words = text.contacts.executions;
const POLL_MS = 5_000;
const SHOWN = 50;

type Execution = ItemOf<'listContactExecutions'>;

/** The running automations of the contact, and the ended ones on request. */
export function ContactExecutions({ contactId }: { contactId: string }) {
  const { can } = useSession();
  const [withEnded, setWithEnded] = useState(false);
  const params = { id: contactId };
  const enabled = can('workflows:view');
  const open = useQuery({
    ...queryFor('listContactExecutions', { params, query: { active: true, limit: SHOWN } }),
    enabled,
    refetchInterval: POLL_MS,
  });
  const ended = useQuery({
    ...queryFor('listContactExecutions', { params, query: { active: false, limit: SHOWN } }),
    enabled: enabled && withEnded,
  });
  return (
    <CardSection title={words.title} isPadded>
      <QueryView of={open} height={40}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              {words.none}
            </Text>
          ) : (
            <ExecutionList executions={data} />
          )
        }
      </QueryView>
      <Anchor component="button" type="button" size="sm" mt="xs" onClick={() => setWithEnded(!withEnded)}>
        {withEnded ? words.hide : words.before}
      </Anchor>
      {withEnded && <QueryView of={ended}>{({ data }) => <ExecutionList executions={data} />}</QueryView>}
    </CardSection>
  );
}

function ExecutionList({ executions }: { executions: Execution[] }) {
  return (
    <Stack gap="sm">
      {executions.map(
        ({
          id,
          workflowId,
          workflowName,
          status,
          sandbox,
          stepName,
          stepType,
          dueAt,
          exitReason,
          error,
          completedAt,
        }) => (
          <div key={id}>
            <Group gap="xs">
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                <AppLink to={`/messages/executions/${workflowId}/${id}`}>{workflowName}</AppLink>
              </Text>
              <WordBadge kind="execution" value={status} />
              {sandbox && (
                <Text size="xs" c="dimmed">
                  {words.sandbox}
                </Text>
              )}
            </Group>
            <Text size="sm" c="dimmed" component="div">
              {completedAt ? (
                <>
                  <Instant at={completedAt} /> <ReasonText value={exitReason ?? error} />
                </>
              ) : (
                <>
                  {stepName ?? (stepType && getLabel('step', stepType))}
                  {dueAt && (
                    <>
                      {` · ${words.due}`} <Instant at={dueAt} />
                    </>
                  )}
                </>
              )}
            </Text>
          </div>
        ),
      )}
    </Stack>
  );
}
