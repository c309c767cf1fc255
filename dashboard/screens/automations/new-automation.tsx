import { Autocomplete, Button, Group, Modal, Radio, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { type ApiFailure, callApi } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { ignoreDoubleClick } from '../../parts/action-button.tsx';
import { Failed } from '../../parts/failed.tsx';
import { useReturnFocus } from '../../parts/use-return-focus.ts';
import { text } from '../../text/text.ts';
import { AUTOMATION_EXAMPLES, type AutomationExample, type AutomationExampleId } from './graph/automation-examples.ts';
import { toSavedGraph } from './graph/graph.ts';
import { withLayout } from './graph/layout.ts';

const t = text.automations;

/** Creates an automation, empty or from an example, and opens it. */
export function NewAutomation({ onClose }: { onClose: () => void }) {
  useReturnFocus();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [id, setId] = useState<AutomationExampleId>('welcome');
  const [name, setName] = useState<string>();
  const [event, setEvent] = useState<string>();
  const example = AUTOMATION_EXAMPLES.find((one) => one.id === id);
  const values = { name: name ?? t.examples[id].name, event: event ?? example?.eventName ?? '' };
  const create = useMutation<string, ApiFailure>({
    mutationFn: () => createAutomation(example, values),
    onSuccess: async (created) => {
      await client.invalidateQueries({ queryKey: ['listWorkflows'] });
      onClose();
      await navigate({ to: '/automations/$automationId', params: { automationId: created } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Modal opened onClose={onClose} title={t.create} size="lg" closeButtonProps={{ 'aria-label': text.app.close }}>
      <form onSubmit={submit}>
        <Stack>
          <Radio.Group label={t.startFrom} value={id} onChange={(next) => setId(next as AutomationExampleId)}>
            <SimpleGrid cols={{ base: 1, sm: 2 }} mt="xs" spacing="xs">
              {AUTOMATION_EXAMPLES.map((one) => (
                <ExampleCard key={one.id} example={one} />
              ))}
            </SimpleGrid>
          </Radio.Group>
          <TextInput
            label={t.name}
            value={values.name}
            onChange={(change) => setName(change.currentTarget.value)}
            required
            maxLength={200}
            data-autofocus
          />
          <EventNameInput label={t.event} description={t.eventHint} value={values.event} onChange={setEvent} />
          {create.error && <Failed error={create.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {text.parts.cancel}
            </Button>
            <Button type="submit" loading={create.isPending} onClick={ignoreDoubleClick()}>
              {t.open}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function ExampleCard({ example: { id, graph } }: { example: AutomationExample }) {
  const { name, what } = t.examples[id];
  return (
    <Radio.Card value={id} p="sm" radius="md">
      <Group wrap="nowrap" align="flex-start" gap="sm">
        <Radio.Indicator />
        <div>
          <Text size="sm" fw={600}>
            {name}
          </Text>
          <Text size="xs" c="dimmed">
            {what} {graph.steps.length > 0 && t.steps(graph.steps.length)}
          </Text>
        </div>
      </Group>
    </Radio.Card>
  );
}

/** Event name input with the project's known events. */
export function EventNameInput(p: {
  label: string;
  description?: string;
  value: string;
  onChange: (value: string) => void;
  disabled?: boolean;
  error?: string | undefined;
}) {
  const { data } = useQuery({ ...queryFor('listWorkflowFields'), staleTime: 60_000 });
  const names = [...new Set(data?.eventNames ?? [])];
  return <Autocomplete {...p} data={names} limit={20} maxLength={255} comboboxProps={{ withinPortal: true }} />;
}

/**
 * Creates the automation, and saves its steps with a second request. If the second request fails, the automation
 * exists and is empty.
 */
async function createAutomation(
  example: AutomationExample | undefined,
  { name, event }: { name: string; event: string },
) {
  const eventName = event.trim() || null;
  const body = {
    name,
    eventName,
    exitOn: example?.exitOn ?? [],
    triggerType: eventName === null ? ('MANUAL' as const) : ('EVENT' as const),
  };
  const { id, version } = await callApi('createWorkflow', { body });
  if (example && example.graph.steps.length > 0) {
    await callApi('saveWorkflowGraph', { params: { id }, body: toSavedGraph(withLayout(example.graph), version) });
  }
  return id;
}
