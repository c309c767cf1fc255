import { ActionIcon, Button, Group, Input, Paper, Stack } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import type { ApiFieldError } from '../../../api/failure.ts';
import { text } from '../../../text/text.ts';
import { AutomaticReplies } from '../forms/automatic-replies.tsx';
import { EventFilters } from '../forms/event-filters.tsx';
import { EventNameInput } from '../new-automation.tsx';
import { EXITS_MAX, type ExitRow, newExit } from './exits.ts';

const t = text.automations;

/** Events that end a run at any step, each with filters on its data. */
export function ExitEvents({
  exits,
  onChange,
  fields,
  readOnly,
}: {
  exits: readonly ExitRow[];
  onChange: (exits: ExitRow[]) => void;
  /** The API's errors of the request, by path. */
  fields: readonly ApiFieldError[];
  readOnly: boolean;
}) {
  const change = (key: string, changes: Partial<ExitRow>) =>
    onChange(exits.map((exit) => (exit.key === key ? { ...exit, ...changes } : exit)));
  return (
    <Stack gap="xs" role="group" aria-label={t.exitOn}>
      <div>
        <Input.Label labelElement="div">{t.exitOn}</Input.Label>
        <Input.Description>{exits.length > 0 ? t.exitOnHint : t.exitOnNone}</Input.Description>
      </div>
      {exits.map(({ key, eventName, filters, includeAutomatic }, index) => (
        <Paper key={key} withBorder p="xs" role="group" aria-label={t.exit(index + 1)}>
          <Stack gap="xs">
            <Group gap={6} wrap="nowrap" align="flex-end">
              <div style={{ flex: 1, minWidth: 0 }}>
                <EventNameInput
                  label={t.exitEvent(index + 1)}
                  value={eventName}
                  onChange={(next) => change(key, { eventName: next })}
                  disabled={readOnly}
                  error={fields.find(({ field }) => field === `exitOn.${index}.eventName`)?.message}
                />
              </div>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="lg"
                aria-label={t.removeExit(eventName || String(index + 1))}
                disabled={readOnly}
                onClick={() => onChange(exits.filter((exit) => exit.key !== key))}
              >
                <IconX size={16} />
              </ActionIcon>
            </Group>
            <AutomaticReplies
              eventName={eventName}
              at="exit"
              checked={includeAutomatic}
              onChange={(next) => change(key, { includeAutomatic: next })}
              readOnly={readOnly}
            />
            <EventFilters
              eventName={eventName}
              value={filters}
              onChange={(next) => change(key, { filters: next })}
              faults={findExitFaults(fields, index)}
              readOnly={readOnly}
            />
          </Stack>
        </Paper>
      ))}
      {fields
        .filter(({ field }) => field === 'exitOn')
        .map(({ message }) => (
          <Input.Error key={message}>{message}</Input.Error>
        ))}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} />}
        disabled={readOnly || exits.length >= EXITS_MAX}
        onClick={() => onChange([...exits, newExit()])}
        style={{ alignSelf: 'flex-start' }}
      >
        {t.addExit}
      </Button>
    </Stack>
  );
}

/** Returns errors of an exit's filters, by paths that start with `filters`. */
function findExitFaults(fields: readonly ApiFieldError[], index: number) {
  const prefix = `exitOn.${index}.`;
  return fields
    .filter(({ field }) => field.startsWith(`${prefix}filters`))
    .map(({ field, message }) => ({ field: field.slice(prefix.length), message }));
}
