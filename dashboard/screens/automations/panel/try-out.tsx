import { Alert, Button, Checkbox, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type AnswerOf, type ApiFailure, call, type InputOf } from '../../../api/client.ts';
import { ActionButton } from '../../../parts/action-button.tsx';
import { Failed } from '../../../parts/failed.tsx';
import { text } from '../../../text/text.ts';
import { JsonField } from '../forms/json-field.tsx';
import type { WorkflowDetail } from '../graph/graph.ts';
import { ContactSelect } from './contact-select.tsx';
import { PreviewPath, RunPath } from './path.tsx';

const t = text.automations;
export type PreviewAnswer = AnswerOf<'previewWorkflow'>;
type RunEvents = InputOf<'previewWorkflow'>['body']['events'];

/** What is tried out: a preview, which does nothing, or a sandbox run, which is real and counts nowhere. */
export function TryOut({
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
  preview: PreviewAnswer | undefined;
  onPreview: (answer: PreviewAnswer | undefined) => void;
  runId: string | undefined;
  onRun: (id: string | undefined) => void;
  onStep: (stepId: string) => void;
}) {
  const [kind, setKind] = useState<'preview' | 'sandbox'>(runId ? 'sandbox' : 'preview');
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label={t.tryOut}
        value={kind}
        onChange={(next) => setKind(next as typeof kind)}
        data={[
          { value: 'preview', label: t.preview },
          { value: 'sandbox', label: t.sandbox },
        ]}
      />
      <Text size="xs" c="dimmed">
        {kind === 'preview' ? t.previewWhat : t.sandboxWhat}
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
        <PreviewPath answer={preview} onStep={onStep} onClear={() => onPreview(undefined)} />
      )}
      {kind === 'sandbox' && runId && (
        <RunPath workflow={workflow} runId={runId} onStep={onStep} onClear={() => onRun(undefined)} />
      )}
      {kind === 'preview' ? (
        <PreviewForm workflowId={workflow.id} onPreview={onPreview} />
      ) : (
        <SandboxForm workflowId={workflow.id} onRun={onRun} />
      )}
    </Stack>
  );
}

function PreviewForm({ workflowId, onPreview }: { workflowId: string; onPreview: (answer: PreviewAnswer) => void }) {
  const [contact, setContact] = useState<{ id: string; email: string } | null>(null);
  const [startAt, setStartAt] = useState('');
  const [event, setEvent] = useState<unknown>();
  const [events, setEvents] = useState<unknown>();
  const preview = useMutation<PreviewAnswer, ApiFailure>({
    mutationFn: () =>
      call('previewWorkflow', {
        params: { id: workflowId },
        body: {
          ...(contact && { contactId: contact.id }),
          ...(startAt && { startAt: new Date(startAt).toISOString() }),
          ...(event !== undefined && { event: event as Record<string, unknown> }),
          ...(events !== undefined && { events: events as RunEvents }),
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
        <JsonField label={t.eventData} value={event} onChange={setEvent} />
        <JsonField label={t.happens} description={t.happensHint} kind="array" value={events} onChange={setEvents} />
        {preview.error && <Failed error={preview.error} />}
        <Button type="submit" loading={preview.isPending} disabled={contact === null}>
          {t.run}
        </Button>
      </Stack>
    </form>
  );
}

function SandboxForm({ workflowId, onRun }: { workflowId: string; onRun: (id: string) => void }) {
  const [contact, setContact] = useState<{ id: string; email: string } | null>(null);
  const [skipDelays, setSkipDelays] = useState(true);
  const [events, setEvents] = useState<unknown>();
  const start = useMutation<{ id: string }, ApiFailure>({
    mutationFn: () =>
      call('startExecution', {
        params: { id: workflowId },
        body: {
          ...{ contactId: contact?.id ?? '', sandbox: true, skipDelays },
          ...(events !== undefined && { events: events as NonNullable<RunEvents> }),
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
        <JsonField label={t.happens} description={t.happensHint} kind="array" value={events} onChange={setEvents} />
        {start.error && <Failed error={start.error} />}
        <ActionButton needs="workflows:edit" type="submit" loading={start.isPending} disabled={contact === null}>
          {t.runSandbox}
        </ActionButton>
      </Stack>
    </form>
  );
}
