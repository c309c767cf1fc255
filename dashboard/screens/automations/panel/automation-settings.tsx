import { Button, Checkbox, Stack, Textarea, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useWrite } from '../../../api/queries.ts';
import { ActionButton, useWhyNot } from '../../../parts/action-button.tsx';
import { ConfirmTyped } from '../../../parts/confirm-typed.tsx';
import { Failed } from '../../../parts/failed.tsx';
import { tellDone } from '../../../parts/tell.tsx';
import { text } from '../../../text/text.ts';
import type { WorkflowDetail } from '../graph/graph.ts';
import { EventName } from '../new-automation.tsx';
import { ExitEvents } from './exit-events.tsx';
import { exitRowsOf, exitsOf } from './exits.ts';

const t = text.automations;

/** All of an automation but its drawing. */
export function AutomationSettings({ workflow }: { workflow: WorkflowDetail }) {
  const [form, setForm] = useState(() => formOf(workflow));
  const whyNot = useWhyNot('workflows:edit');
  const write = useWrite('updateWorkflow', { changes: ['getWorkflow', 'listWorkflows'] });
  const set = (changes: Partial<typeof form>) => setForm((before) => ({ ...before, ...changes }));
  const faultAt = (field: string) => write.error?.fields.find((fault) => fault.field.startsWith(field))?.message;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const eventName = form.eventName.trim() || null;
    const body = {
      name: form.name,
      description: form.description || null,
      eventName,
      triggerType: eventName === null ? ('MANUAL' as const) : ('EVENT' as const),
      allowReentry: form.allowReentry,
      includeAutomatic: form.includeAutomatic,
      exitWhenUnsubscribed: form.exitWhenUnsubscribed,
      exitOn: exitsOf(form.exitOn),
    };
    write.mutate({ params: { id: workflow.id }, body }, { onSuccess: () => tellDone(t.settingsSaved) });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label={t.name}
          value={form.name}
          maxLength={200}
          required
          disabled={whyNot !== undefined}
          onChange={({ currentTarget: { value } }) => set({ name: value })}
          error={faultAt('name')}
        />
        <Textarea
          label={t.description}
          value={form.description}
          maxLength={2_000}
          autosize
          disabled={whyNot !== undefined}
          onChange={({ currentTarget: { value } }) => set({ description: value })}
        />
        <EventName
          label={t.event}
          description={t.eventHint}
          value={form.eventName}
          onChange={(eventName) => set({ eventName })}
          disabled={whyNot !== undefined}
          error={faultAt('eventName')}
        />
        {form.eventName.trim() === 'email.received' && (
          <Checkbox
            label={t.includeAutomatic}
            checked={form.includeAutomatic}
            disabled={whyNot !== undefined}
            onChange={({ currentTarget: { checked } }) => set({ includeAutomatic: checked })}
          />
        )}
        <ExitEvents
          exits={form.exitOn}
          onChange={(exitOn) => set({ exitOn })}
          fields={write.error?.fields ?? []}
          readOnly={whyNot !== undefined}
        />
        <Checkbox
          label={t.exitWhenUnsubscribed}
          checked={form.exitWhenUnsubscribed}
          disabled={whyNot !== undefined}
          onChange={({ currentTarget: { checked } }) => set({ exitWhenUnsubscribed: checked })}
        />
        <Checkbox
          label={t.allowReentry}
          checked={form.allowReentry}
          disabled={whyNot !== undefined}
          onChange={({ currentTarget: { checked } }) => set({ allowReentry: checked })}
        />
        {write.error && <Failed error={write.error} />}
        <ActionButton
          needs="workflows:edit"
          type="submit"
          loading={write.isPending}
          whyNot={form.exitOn.some(({ eventName }) => eventName.trim() === '') ? t.exitUnnamed : undefined}
        >
          {t.saveSettings}
        </ActionButton>
        <Delete workflow={workflow} />
      </Stack>
    </form>
  );
}

function formOf(workflow: WorkflowDetail) {
  const { name, description, eventName, allowReentry, exitWhenUnsubscribed, includeAutomatic, exitOn } = workflow;
  return {
    name,
    description: description ?? '',
    eventName: eventName ?? '',
    allowReentry,
    exitWhenUnsubscribed,
    includeAutomatic,
    exitOn: exitRowsOf(exitOn),
  };
}

function Delete({ workflow: { id, name } }: { workflow: WorkflowDetail }) {
  const navigate = useNavigate();
  const [asks, setAsks] = useState(false);
  const remove = useWrite('deleteWorkflow', { changes: ['listWorkflows'] });
  const whyNot = useWhyNot('workflows:edit');
  return (
    <>
      <Button
        variant="subtle"
        color="red"
        size="xs"
        disabled={whyNot !== undefined}
        onClick={() => setAsks(true)}
        style={{ alignSelf: 'flex-start' }}
      >
        {t.deleteIt}
      </Button>
      <ConfirmTyped
        opened={asks}
        onClose={() => setAsks(false)}
        title={t.deleteIt}
        what={t.deleteWhat(name)}
        word={name.trim()}
        action={t.deleteIt}
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() =>
          remove.mutate(
            { params: { id } },
            {
              onSuccess: () => {
                tellDone(t.deleted);
                void navigate({ to: '/automations' });
              },
            },
          )
        }
      />
    </>
  );
}
