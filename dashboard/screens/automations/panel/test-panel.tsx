import { Alert, Button, Checkbox, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type ApiFailure, callApi, type ResponseOf } from '../../../api/client.ts';
import { ActionButton } from '../../../parts/action-button.tsx';
import { EventPayload } from '../../../parts/event-data/event-payload.tsx';
import { Failed } from '../../../parts/failed.tsx';
import { text } from '../../../text/text.ts';
import type { WorkflowDetail } from '../graph/graph.ts';
import { getStartEvent } from '../start-event.ts';
import { ContactSelect } from './contact-select.tsx';
import { PreviewPath, RunPath } from './path.tsx';
import { type RunEventDraft, RunEvents, toRunEvents } from './run-events.tsx';

const t = text.automations;
export type PreviewResponse = ResponseOf<'previewWorkflow'>;

/**
 * Tests an automation: with a preview, which has no effects, or with a sandbox run, which is executed but not counted
 * in any statistics.
 */
export function TestPanel({
  workflow,
  isDirty,
  onSave,
  preview,
  onPreview,
  runId,
  onRun,
  onStep,
}: {
  workflow: WorkflowDetail;
  isDirty: boolean;
  onSave: () => void;
  preview: PreviewResponse | undefined;
  onPreview: (preview: PreviewResponse | undefined) => void;
  runId: string | undefined;
  onRun: (id: string | undefined) => void;
  onStep: (stepId: string) => void;
}) {
  const [kind, setKind] = useState<'preview' | 'sandbox'>(runId ? 'sandbox' : 'preview');
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label={t.test}
        value={kind}
        onChange={(next) => setKind(next as typeof kind)}
        data={[
          { value: 'preview', label: t.preview },
          { value: 'sandbox', label: t.sandbox },
        ]}
      />
      <Text size="xs" c="dimmed">
        {kind === 'preview' ? t.previewHelp : t.sandboxHelp}
      </Text>
      {isDirty && (
        <Alert color="yellow" p="xs">
          <Group justify="space-between">
            <Text size="sm">{t.saveFirst}</Text>
            <Button size="compact-sm" variant="light" onClick={onSave}>
              {t.save}
            </Button>
          </Group>
        </Alert>
      )}
      {kind === 'preview' && preview && (
        <PreviewPath preview={preview} onStep={onStep} onClear={() => onPreview(undefined)} />
      )}
      {kind === 'sandbox' && runId && (
        <RunPath workflow={workflow} runId={runId} onStep={onStep} onClear={() => onRun(undefined)} />
      )}
      {kind === 'preview' ? (
        <PreviewForm workflow={workflow} onPreview={onPreview} />
      ) : (
        <SandboxForm workflow={workflow} onRun={onRun} />
      )}
    </Stack>
  );
}

function PreviewForm({
  workflow,
  onPreview,
}: {
  workflow: WorkflowDetail;
  onPreview: (preview: PreviewResponse) => void;
}) {
  const { id } = workflow;
  const eventName = getStartEvent(workflow);
  const [contact, setContact] = useState<{ id: string; email: string } | null>(null);
  const [startAt, setStartAt] = useState('');
  const [event, setEvent] = useState<Record<string, unknown>>();
  const [events, setEvents] = useState<RunEventDraft[]>([]);
  const preview = useMutation<PreviewResponse, ApiFailure>({
    mutationFn: () =>
      callApi('previewWorkflow', {
        params: { id },
        body: {
          ...(contact && { contactId: contact.id }),
          ...(startAt && { startAt: new Date(startAt).toISOString() }),
          ...(event && { event }),
          ...(events.length > 0 && { events: toRunEvents(events) }),
        },
      }),
    onSuccess: onPreview,
  });
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault();
    preview.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <ContactSelect value={contact} onChange={setContact} />
        <TextInput
          type="datetime-local"
          label={t.startAt}
          description={t.startAtHint}
          value={startAt}
          onChange={({ currentTarget: { value } }) => setStartAt(value)}
        />
        {eventName && (
          <Stack gap="xs" role="group" aria-label={t.startEvent(eventName)}>
            <Text size="sm" fw={500}>
              {t.startEvent(eventName)}
            </Text>
            <EventPayload eventName={eventName} onChange={setEvent} />
          </Stack>
        )}
        <RunEvents workflow={workflow} events={events} onChange={setEvents} />
        {preview.error && <Failed error={preview.error} />}
        <Button type="submit" loading={preview.isPending} disabled={contact === null}>
          {t.run}
        </Button>
      </Stack>
    </form>
  );
}

function SandboxForm({ workflow, onRun }: { workflow: WorkflowDetail; onRun: (id: string) => void }) {
  const [contact, setContact] = useState<{ id: string; email: string } | null>(null);
  const [skipDelays, setSkipDelays] = useState(true);
  const [events, setEvents] = useState<RunEventDraft[]>([]);
  const start = useMutation<{ id: string }, ApiFailure>({
    mutationFn: () =>
      callApi('startExecution', {
        params: { id: workflow.id },
        body: {
          contactId: contact?.id ?? '',
          sandbox: true,
          skipDelays,
          ...(events.length > 0 && { events: toRunEvents(events) }),
        },
      }),
    onSuccess: ({ id }) => onRun(id),
  });
  const submit = (submitted: FormEvent) => {
    submitted.preventDefault();
    if (contact) start.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <ContactSelect value={contact} onChange={setContact} />
        <Checkbox
          label={t.skipDelays}
          checked={skipDelays}
          onChange={({ currentTarget: { checked } }) => setSkipDelays(checked)}
        />
        <RunEvents workflow={workflow} events={events} onChange={setEvents} />
        {start.error && <Failed error={start.error} />}
        <ActionButton needs="workflows:edit" type="submit" loading={start.isPending} disabled={contact === null}>
          {t.runSandbox}
        </ActionButton>
      </Stack>
    </form>
  );
}
