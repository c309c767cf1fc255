import { Button, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import {
  type DraftCondition,
  isComplete,
  newCondition,
  toCondition,
  toConditionDraft,
} from '../../../parts/condition-builder/draft.ts';
import { mapFaultsToRows } from '../../../parts/condition-builder/faults.ts';
import { parseStoredCondition } from '../../../parts/condition-builder/stored.ts';
import { useEventData } from '../../../parts/event-data/use-event-data.ts';
import { text } from '../../../text/text.ts';
import type { StepFault } from '../graph/faults.ts';
import { ConditionField } from './condition-field.tsx';
import { RawSetting } from './raw-setting.tsx';

const t = text.automations;

/** Edits the filters on the data of an event. Stored filters that the builder cannot show are edited as JSON. */
export function EventFilters({
  eventName,
  value,
  onChange,
  faults,
  readOnly,
}: {
  eventName: string;
  /** The stored filters; undefined if any event of the name matches. */
  value: unknown;
  onChange: (filters: unknown) => void;
  /** The API's errors. Their paths start with `filters`. */
  faults: readonly StepFault[];
  readOnly: boolean;
}) {
  const [draft, setDraft] = useState<DraftCondition | undefined>(() => {
    const stored = parseStoredCondition(value);
    return stored && toConditionDraft(stored);
  });
  const [isJson] = useState(() => !draft && !areMissing(value));
  const { fields } = useEventData(eventName);
  if (isJson) {
    return (
      <RawSetting
        label={t.eventFilters}
        value={value}
        onChange={onChange}
        disabled={readOnly}
        error={faults[0]?.message}
      />
    );
  }
  const change = (next: DraftCondition | undefined) => {
    setDraft(next);
    if (!next) onChange(undefined);
    else if (isComplete(next)) onChange(toCondition(next));
  };
  if (!draft) {
    return (
      <Stack gap={4} align="flex-start">
        <Text size="xs" c="dimmed">
          {t.anyEvent}
        </Text>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          disabled={readOnly}
          onClick={() => change(newCondition())}
        >
          {t.addEventFilter}
        </Button>
      </Stack>
    );
  }
  const fieldFaults = faults.flatMap(({ field, message }) => (field === undefined ? [] : [{ field, message }]));
  return (
    <ConditionField
      legend={t.eventFilters}
      readOnly={readOnly}
      value={draft}
      onChange={change}
      scope="wait"
      ofEvent={fields}
      faults={mapFaultsToRows(draft, fieldFaults, 'filters')}
    >
      <Button variant="subtle" color="gray" size="compact-xs" mt={6} onClick={() => change(undefined)}>
        {t.removeEventFilters}
      </Button>
    </ConditionField>
  );
}

/** Returns whether the filters are missing or empty. The API then matches any event with the name. */
function areMissing(filters: unknown): boolean {
  return filters === undefined || filters === null || (Array.isArray(filters) && filters.length === 0);
}
