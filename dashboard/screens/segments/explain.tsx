import { Alert, Box, Group, Paper, Stack, Text } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import type { FieldChoice } from '../../parts/condition-builder/choices.ts';
import { findFieldKind } from '../../parts/condition-builder/language.ts';
import { filterAsSentence } from '../../parts/condition-builder/sentence.ts';
import { useFieldChoices } from '../../parts/condition-builder/use-field-choices.ts';
import { ContactSelect } from '../../parts/contact-select.tsx';
import { Instant } from '../../parts/instant.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { text } from '../../text/text.ts';

type Segment = ResponseOf<'getSegment'>;
type Explanation = ResponseOf<'explainSegment'>;
type ExplainedFilter = Explanation['filters'][number];
type Condition = NonNullable<Segment['condition']>;
const words = text.segments;

/**
 * Shows why a contact is in the segment or not: each filter with the contact's value. The contact is in the URL.
 */
export function Explain({ segment }: { segment: Segment }) {
  const { contact } = useSearch({ from: '/shell/segments/$segmentId' });
  const navigate = useNavigate({ from: '/segments/$segmentId' });
  return (
    <Stack maw={760}>
      <ContactSelect
        label={words.explainContact}
        value={contact}
        onChange={(id) => void navigate({ search: (before) => ({ ...before, contact: id }), replace: true })}
      />
      {contact ? (
        <ContactExplanation segment={segment} contactId={contact} />
      ) : (
        <Text c="dimmed">{words.explainHelp}</Text>
      )}
    </Stack>
  );
}

function ContactExplanation({ segment, contactId }: { segment: Segment; contactId: string }) {
  const explainInput = { params: { id: segment.id }, query: { contactId } };
  const query = useQuery({ ...queryFor('explainSegment', explainInput), retry: false });
  const { data: contact } = useQuery({ ...queryFor('getContact', { params: { id: contactId } }), retry: false });
  return (
    <QueryView of={query}>
      {({ holds, member, filters }) => (
        <>
          <Alert color={holds ? 'green' : 'gray'} role="status">
            {(holds ? words.explainIn : words.explainOut)(contact?.email ?? contactId)}{' '}
            {holds === false && member === true && segment.type === 'DYNAMIC' && words.explainStored}
            {holds && member === false && words.explainMissing}
            <Text size="sm">
              <AppLink to={`/contacts/${contactId}`}>{words.toContact}</AppLink>
            </Text>
          </Alert>
          {segment.condition && <Groups condition={segment.condition} filters={filters} path="" />}
        </>
      )}
    </QueryView>
  );
}

/** Shows the condition as in the editor, with the result of each filter. */
function Groups({ condition, filters, path }: { condition: Condition; filters: ExplainedFilter[]; path: string }) {
  const choices = useFieldChoices('audience');
  const { groups, logic } = condition;
  return (
    <Stack gap="xs">
      {groups.length > 1 && (
        <Text size="sm" c="dimmed">
          {logic === 'AND' ? text.conditions.allGroups : text.conditions.anyGroup}
        </Text>
      )}
      {groups.map((group, n) => {
        const groupPath = `${path}groups.${n}.`;
        return (
          <Paper key={groupPath} withBorder p="sm">
            <Stack gap="xs">
              {group.filters.map((_, at) => {
                const filter = filters.find((one) => one.path === `${groupPath}filters.${at}`);
                return filter && <FilterResult key={filter.path} filter={filter} choices={choices} />;
              })}
              {group.conditions && (
                <Groups condition={group.conditions} filters={filters} path={`${groupPath}conditions.`} />
              )}
            </Stack>
          </Paper>
        );
      })}
    </Stack>
  );
}

function FilterResult({ filter, choices }: { filter: ExplainedFilter; choices: readonly FieldChoice[] }) {
  const { holds } = filter;
  const Icon = holds ? IconCheck : IconX;
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Icon
        size={18}
        color={holds ? 'var(--mantine-color-green-6)' : 'var(--mantine-color-red-6)'}
        aria-label={holds ? words.matches : words.doesNotMatch}
        role="img"
        style={{ flex: 'none', marginTop: 2 }}
      />
      <Box miw={0} style={{ overflowWrap: 'anywhere' }}>
        <Text>{filterAsSentence(filter as Parameters<typeof filterAsSentence>[0], choices)}</Text>
        <Text size="sm" c="dimmed" component="div">
          <CurrentValue filter={filter} />
        </Text>
      </Box>
    </Group>
  );
}

/** The contact's value for a filter; for events and emails, the last instant; for segments, nothing. */
function CurrentValue({ filter: { field, operator, contactValue } }: { filter: ExplainedFilter }) {
  const kind = findFieldKind(field, operator, 'audience');
  if (kind === 'segment') return null;
  if (kind === 'event' || kind === 'activity') {
    if (typeof contactValue !== 'string') return words.never;
    return (
      <>
        {words.lastAt} <Instant at={contactValue} />
      </>
    );
  }
  if (contactValue === null || contactValue === undefined) return words.hasNone;
  if (kind === 'createdAt' || kind === 'updatedAt') return <Instant at={String(contactValue)} />;
  return words.hasNow(typeof contactValue === 'string' ? contactValue : JSON.stringify(contactValue));
}
