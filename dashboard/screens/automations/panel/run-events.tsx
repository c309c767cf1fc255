import { ActionIcon, Autocomplete, Button, Group, Input, Paper, Stack, TextInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { InputOf } from '../../../api/client.ts';
import { queryFor } from '../../../api/queries.ts';
import { EventPayload } from '../../../parts/event-data/event-payload.tsx';
import { text } from '../../../text/text.ts';
import type { WorkflowDetail } from '../graph/graph.ts';

const t = text.automations;
type RunEvents = NonNullable<InputOf<'previewWorkflow'>['body']['events']>;

/** An event to simulate during a test run of the automation. */
export interface RunEventDraft {
  key: string;
  name: string;
  /** The value of the browser's time input; empty means as soon as a step waits for the event. */
  at: string;
  /** Undefined if the event has no data. */
  data: Record<string, unknown> | undefined;
}

/** A form rarely needs more. The API accepts 100. */
const EVENTS_MAX = 20;

/** Returns the events that have a name, as the API takes them. */
export function toRunEvents(events: readonly RunEventDraft[]): RunEvents {
  return events
    .filter(({ name }) => name.trim() !== '')
    .map(({ name, at, data }) => ({
      name: name.trim(),
      ...(at !== '' && { at: new Date(at).toISOString() }),
      ...(data && { data }),
    }));
}

/** Returns the events that an automation waits for or ends with, which are worth simulating. */
function listAwaitedEvents({ steps, exitOn }: WorkflowDetail): string[] {
  const waited = steps.flatMap(({ type, config: { eventName } }) =>
    type === 'WAIT_FOR_EVENT' && typeof eventName === 'string' ? eventName : [],
  );
  return [...new Set([...waited, ...exitOn.map(({ eventName }) => eventName)])];
}

/** Edits the events to simulate during a test run. */
export function RunEvents({
  workflow,
  events,
  onChange,
}: {
  workflow: WorkflowDetail;
  events: readonly RunEventDraft[];
  onChange: (events: RunEventDraft[]) => void;
}) {
  const { data } = useQuery({ ...queryFor('listWorkflowFields'), staleTime: 60_000 });
  const awaitedEvents = listAwaitedEvents(workflow);
  const names = [...new Set([...awaitedEvents, ...(data?.eventNames ?? [])])];
  const change = (key: string, changes: Partial<RunEventDraft>) =>
    onChange(events.map((event) => (event.key === key ? { ...event, ...changes } : event)));
  const add = () => {
    const next = awaitedEvents.find((name) => !events.some((event) => event.name === name));
    onChange([...events, { key: crypto.randomUUID(), name: next ?? '', at: '', data: undefined }]);
  };
  return (
    <Stack gap="xs" role="group" aria-label={t.simulatedEvents}>
      <div>
        <Input.Label labelElement="div">{t.simulatedEvents}</Input.Label>
        <Input.Description>
          {awaitedEvents.length > 0 ? t.eventsToSimulate(awaitedEvents) : t.simulatedEventsHint}
        </Input.Description>
      </div>
      {events.map(({ key, name, at, data: payload }, index) => (
        <Paper key={key} withBorder p="xs" role="group" aria-label={t.simulatedEvent(index + 1)}>
          <Stack gap="xs">
            <Group gap={6} wrap="nowrap" align="flex-end">
              <Autocomplete
                label={t.simulatedEventName(index + 1)}
                data={names}
                limit={20}
                maxLength={255}
                value={name}
                onChange={(next) => change(key, { name: next })}
                style={{ flex: 1, minWidth: 0 }}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                size="lg"
                aria-label={t.removeSimulatedEvent(name || String(index + 1))}
                onClick={() => onChange(events.filter((event) => event.key !== key))}
              >
                <IconX size={16} />
              </ActionIcon>
            </Group>
            <TextInput
              type="datetime-local"
              label={t.simulatedAt}
              description={t.simulatedAtHint}
              value={at}
              onChange={({ currentTarget: { value } }) => change(key, { at: value })}
            />
            <OptionalPayload eventName={name} value={payload} onChange={(next) => change(key, { data: next })} />
          </Stack>
        </Paper>
      ))}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} />}
        disabled={events.length >= EVENTS_MAX}
        onClick={add}
        style={{ alignSelf: 'flex-start' }}
      >
        {t.addSimulatedEvent}
      </Button>
    </Stack>
  );
}

/** Edits the data of an event, which is optional. */
function OptionalPayload(p: {
  eventName: string;
  value: Record<string, unknown> | undefined;
  onChange: (data: Record<string, unknown> | undefined) => void;
}) {
  const [opened, setOpened] = useState(p.value !== undefined);
  if (!opened) {
    return (
      <Button variant="subtle" size="compact-xs" onClick={() => setOpened(true)} style={{ alignSelf: 'flex-start' }}>
        {t.withData}
      </Button>
    );
  }
  return <EventPayload eventName={p.eventName} onChange={p.onChange} />;
}
