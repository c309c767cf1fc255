import { Select } from '@mantine/core';
import { useEffect, useState } from 'react';
import { text } from '../../text/text.ts';
import { createTypedChoices, type FieldChoice, findFieldChoice, getChoiceKey } from './choices.ts';
import type { DraftFilter } from './draft.ts';
import type { ConditionScope } from './language.ts';
import { getFieldLabel } from './sentence.ts';

/**
 * Selects the field of a row: a field of the project, or one that the user types (a path into data, an event that has
 * not occurred yet).
 */
export function FieldSelect({
  filter,
  choices,
  scope,
  label,
  error,
  autoFocus,
  onChoose,
}: {
  filter: DraftFilter;
  choices: readonly FieldChoice[];
  scope: ConditionScope;
  label: string;
  error?: string | undefined;
  autoFocus: boolean;
  onChoose: (choice: FieldChoice) => void;
}) {
  const selected = findFieldChoice(filter, choices, scope);
  const selectedLabel = selected ? getFieldLabel(selected) : '';
  const [search, setSearch] = useState(selectedLabel);
  // The id of a segment or topic is known before its name is loaded, so the label can change.
  useEffect(() => setSearch(selectedLabel), [selectedLabel]);
  const isKnown = (choice: FieldChoice) => choices.some((other) => getChoiceKey(other) === getChoiceKey(choice));
  const isOwnText = selected !== undefined && search === selectedLabel;
  const written = isOwnText ? [] : createTypedChoices(search, scope).filter((choice) => !isKnown(choice));
  const extra =
    selected && !isKnown(selected) && !written.some((w) => getChoiceKey(w) === getChoiceKey(selected))
      ? [selected]
      : [];
  const all = [...choices, ...extra, ...written];
  return (
    <Select
      aria-label={label}
      placeholder={text.conditions.chooseField}
      data={groupByKind([...choices, ...extra], written)}
      value={selected ? getChoiceKey(selected) : null}
      searchable
      searchValue={search}
      onSearchChange={setSearch}
      onChange={(key) => {
        const choice = all.find((one) => getChoiceKey(one) === key);
        if (choice) onChoose(choice);
      }}
      allowDeselect={false}
      nothingFoundMessage={text.conditions.noField}
      error={error}
      autoFocus={autoFocus}
      maxDropdownHeight={320}
      limit={200}
    />
  );
}

/** Groups the choices by kind for Mantine, with typed ones last. Several typed choices also show their kind. */
function groupByKind(choices: readonly FieldChoice[], written: readonly FieldChoice[]) {
  const groups = new Map<string, { value: string; label: string }[]>();
  const add = (name: string, choice: FieldChoice, label: string) =>
    groups.set(name, [...(groups.get(name) ?? []), { value: getChoiceKey(choice), label }]);
  for (const choice of choices) add(groupName(choice), choice, getFieldLabel(choice));
  for (const choice of written) {
    const kind = written.length > 1 ? ` (${groupName(choice)})` : '';
    add(text.conditions.kinds.written, choice, `${choice.field}${kind}`);
  }
  return [...groups].map(([group, items]) => ({ group, items }));
}

function groupName({ kind }: FieldChoice): string {
  const { kinds } = text.conditions;
  if (kind === 'email' || kind === 'subscribed' || kind === 'createdAt' || kind === 'updatedAt') return kinds.contact;
  return kinds[kind];
}
