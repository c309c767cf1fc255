import { Button, Collapse, Group, Paper, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconFilter, IconSearch, IconX } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { ApiFailure } from '../../api/client.ts';
import {
  type DraftCondition,
  isComplete,
  newCondition,
  toCondition,
  toConditionDraft,
} from '../../parts/condition-builder/draft.ts';
import { mapFaultsToRows, NO_FAULTS } from '../../parts/condition-builder/faults.ts';
import { filterAsSentence, listFilters, withoutFilter } from '../../parts/condition-builder/sentence.ts';
import { useFieldChoices } from '../../parts/condition-builder/use-field-choices.ts';
import { PendingLines } from '../../parts/pending-lines.tsx';
import { useFilterText } from '../../parts/use-delayed-text.ts';
import { text } from '../../text/text.ts';
import type { ListSearch } from './routes.ts';

const words = text.contacts.list;
const ConditionBuilder = lazy(() =>
  import('../../parts/condition-builder/condition-builder.tsx').then((part) => ({ default: part.ConditionBuilder })),
);

/** The filter of the list: a search and a condition, both in the URL. `children` are shown beside them. */
export function ListFilter({ failure, children }: { failure: ApiFailure | null; children: ReactNode }) {
  const { search, condition } = useSearch({ from: '/shell/contacts' });
  const navigate = useNavigate({ from: '/contacts' });
  const [opened, { toggle, close }] = useDisclosure();
  const choose = (change: ListSearch, replace: boolean) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace });
  return (
    <Stack gap="sm" mb="md">
      <Group gap="xs" align="flex-end">
        <SearchInput value={search} onChange={(next) => choose({ search: next } as ListSearch, true)} />
        <Button
          variant={condition ? 'light' : 'default'}
          leftSection={<IconFilter size={16} aria-hidden />}
          onClick={toggle}
          aria-expanded={opened}
        >
          {condition ? words.filtered : words.filter}
        </Button>
        {children}
      </Group>
      <Collapse in={opened}>
        {opened && (
          <Editor
            key={JSON.stringify(condition)}
            condition={condition}
            failure={failure}
            onApply={(next) => {
              choose({ condition: next } as ListSearch, false);
              if (next === undefined) close();
            }}
          />
        )}
      </Collapse>
      {condition && !opened && (
        <Summary condition={condition} onChange={(next) => choose({ condition: next } as ListSearch, false)} />
      )}
    </Stack>
  );
}

function SearchInput({
  value,
  onChange,
}: {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  return (
    <TextInput
      aria-label={words.search}
      placeholder={words.search}
      type="search"
      leftSection={<IconSearch size={16} aria-hidden />}
      {...useFilterText(value, onChange)}
      maxLength={254}
      flex="1 1 240px"
      maw={{ sm: 320 }}
    />
  );
}

function Editor({
  condition,
  failure,
  onApply,
}: {
  condition: ListSearch['condition'];
  failure: ApiFailure | null;
  onApply: (condition: ListSearch['condition']) => void;
}) {
  const [draft, setDraft] = useState<DraftCondition>(() => (condition ? toConditionDraft(condition) : newCondition()));
  return (
    <Paper withBorder p="sm" component="section" aria-label={words.condition}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {words.condition}
        </Text>
        <Suspense fallback={<PendingLines height={80} />}>
          <ConditionBuilder
            value={draft}
            onChange={setDraft}
            faults={failure && condition ? mapFaultsToRows(draft, failure.fields, 'condition') : NO_FAULTS}
          />
        </Suspense>
        <Group gap="xs">
          <Button size="xs" disabled={!isComplete(draft)} onClick={() => onApply(toCondition(draft))}>
            {words.apply}
          </Button>
          {condition && (
            <Button size="xs" variant="default" onClick={() => onApply(undefined)}>
              {words.clearFilter}
            </Button>
          )}
        </Group>
      </Stack>
    </Paper>
  );
}

const SENTENCES_SHOWN = 5;

function Summary({
  condition,
  onChange,
}: {
  condition: NonNullable<ListSearch['condition']>;
  onChange: (condition: ListSearch['condition']) => void;
}) {
  const choices = useFieldChoices('audience');
  const filters = listFilters(condition);
  const isNested = condition.groups.some(({ conditions }) => conditions);
  return (
    <Group gap={6}>
      {filters.slice(0, SENTENCES_SHOWN).map((filter, n) => {
        const sentence = filterAsSentence(filter, choices);
        return (
          <span key={JSON.stringify(filter)} className="chip">
            <span>{sentence}</span>
            {!isNested && (
              <button
                type="button"
                aria-label={words.removeFilter(sentence)}
                onClick={() => onChange(withoutFilter(condition, n))}
              >
                <IconX size={14} aria-hidden />
              </button>
            )}
          </span>
        );
      })}
      {filters.length > SENTENCES_SHOWN && (
        <Text size="sm" c="dimmed">
          {text.conditions.more(filters.length - SENTENCES_SHOWN)}
        </Text>
      )}
      <Button size="compact-xs" variant="subtle" onClick={() => onChange(undefined)}>
        {words.clearFilter}
      </Button>
    </Group>
  );
}
