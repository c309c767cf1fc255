import { Group, List, Stack, Text, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ResponseOf } from '../../../api/client.ts';
import { queryFor } from '../../../api/queries.ts';
import { AppLink } from '../../../parts/app-link.tsx';
import { CardSection } from '../../../parts/card-section.tsx';
import { filterAsSentence } from '../../../parts/condition-builder/sentence.ts';
import { useFieldChoices } from '../../../parts/condition-builder/use-field-choices.ts';
import { Instant } from '../../../parts/instant.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { text } from '../../../text/text.ts';

const words = text.contacts.segments;
type Segment = ResponseOf<'listContactSegments'>['data'][number];

/** The segments that contain the contact, each with the reason. */
export function ContactSegments({ contactId }: { contactId: string }) {
  const segments = useQuery(queryFor('listContactSegments', { params: { id: contactId } }));
  return (
    <CardSection title={words.title} isPadded>
      <QueryView of={segments} height={60}>
        {({ data }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              {words.none}
            </Text>
          ) : (
            <Stack gap="xs">
              {data.map((segment) => (
                <InSegment key={segment.id} contactId={contactId} segment={segment} />
              ))}
            </Stack>
          )
        }
      </QueryView>
    </CardSection>
  );
}

function InSegment({ contactId, segment: { id, name, type, memberSince } }: { contactId: string; segment: Segment }) {
  const [opened, setOpened] = useState(false);
  const Chevron = opened ? IconChevronDown : IconChevronRight;
  return (
    <div>
      <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
        <Text size="sm" miw={0} style={{ overflowWrap: 'anywhere' }}>
          <AppLink to={`/segments/${id}`}>{name}</AppLink>
          {memberSince && (
            <Text span size="sm" c="dimmed">
              {' '}
              {words.since} <Instant at={memberSince} />
            </Text>
          )}
        </Text>
        <UnstyledButton
          fz="sm"
          c="dimmed"
          style={{ flex: 'none' }}
          aria-expanded={opened}
          aria-label={words.whyFor(name)}
          onClick={() => setOpened(!opened)}
        >
          <Group gap={2} wrap="nowrap">
            {words.why} <Chevron size={14} aria-hidden />
          </Group>
        </UnstyledButton>
      </Group>
      {opened &&
        (type === 'STATIC' ? (
          <Text size="sm">{words.byHand}</Text>
        ) : (
          <MatchingFilters contactId={contactId} segmentId={id} />
        ))}
    </div>
  );
}

function MatchingFilters({ contactId, segmentId }: { contactId: string; segmentId: string }) {
  const choices = useFieldChoices('audience');
  const explained = useQuery(queryFor('explainSegment', { params: { id: segmentId }, query: { contactId } }));
  return (
    <QueryView of={explained} height={40}>
      {({ filters }) => (
        <List size="sm" mt={4}>
          {filters
            .filter(({ holds }) => holds)
            .map((filter) => (
              <List.Item key={filter.path} style={{ overflowWrap: 'anywhere' }}>
                {filterAsSentence(filter as Parameters<typeof filterAsSentence>[0], choices)}{' '}
                <Text span size="sm" c="dimmed">
                  ({words.has} <ContactValue value={filter.contactValue} />)
                </Text>
              </List.Item>
            ))}
        </List>
      )}
    </QueryView>
  );
}

const ISO_INSTANT = /^\d{4}-\d{2}-\d{2}T/;

function ContactValue({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <>{words.nothing}</>;
  if (typeof value === 'string') return ISO_INSTANT.test(value) ? <Instant at={value} /> : value;
  if (typeof value === 'boolean') return <>{value ? text.contacts.data.yes : text.contacts.data.no}</>;
  return <>{JSON.stringify(value)}</>;
}
