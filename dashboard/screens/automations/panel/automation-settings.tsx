import { Checkbox, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useMemo } from 'react';
import type { ApiFailure, InputOf } from '../../../api/client.ts';
import { useWrite } from '../../../api/queries.ts';
import { ActionButton, useMissingPermissionText } from '../../../parts/action-button.tsx';
import { ConfirmTyped } from '../../../parts/confirm-typed.tsx';
import { Failed } from '../../../parts/failed.tsx';
import { notifySuccess } from '../../../parts/notifications.tsx';
import { isSame } from '../../../parts/record-edit/changes.ts';
import { Conflict } from '../../../parts/record-edit/conflict.tsx';
import { RestoredDraft } from '../../../parts/record-edit/restored-draft.tsx';
import { isStale, useRecordEdit } from '../../../parts/record-edit/use-record-edit.ts';
import { text } from '../../../text/text.ts';
import { AutomaticReplies } from '../forms/automatic-replies.tsx';
import type { WorkflowDetail } from '../graph/graph.ts';
import { EventNameInput } from '../new-automation.tsx';
import { getStartEvent } from '../start-event.ts';
import { ExitEvents } from './exit-events.tsx';
import { toExitRows, toExits } from './exits.ts';

const t = text.automations;

/** The settings of an automation, without its steps. */
export function AutomationSettings({ workflow }: { workflow: WorkflowDetail }) {
  const queries = useQueryClient();
  const write = useWrite('updateWorkflow', { changes: ['getWorkflow', 'listWorkflows'] });
  const stored = useMemo(() => toForm(workflow), [workflow]);
  const edit = useRecordEdit({ name: `automation-settings:${workflow.id}`, stored, isSaving: write.isPending });
  const form = edit.fields;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (edit.hasConflict) return;
    write.mutate(
      { params: { id: workflow.id }, body: { ...toChangedFields(form, stored), updatedAt: workflow.updatedAt } },
      {
        onSuccess: (saved) => {
          edit.markSaved(form, toForm(saved));
          notifySuccess(t.settingsSaved);
        },
        onError: (error) => {
          if (!isStale(error)) return;
          edit.markStale();
          void queries.invalidateQueries({ queryKey: ['getWorkflow'] });
        },
      },
    );
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Conflict edit={edit} labels={t.settingNames} show={settingAsText} />
        {edit.isRestored && !edit.hasConflict && (
          <RestoredDraft discardLabel={t.discard} onDiscard={edit.discard}>
            <Text size="sm">{t.draftKept}</Text>
          </RestoredDraft>
        )}
        <SettingsFields form={edit.fields} set={edit.change} failure={write.error} />
        {write.error && !isStale(write.error) && <Failed error={write.error} />}
        <Group>
          <ActionButton
            needs="workflows:edit"
            type="submit"
            loading={write.isPending}
            whyNot={
              edit.hasConflict
                ? text.parts.conflict.chooseFirst
                : form.exitOn.some(({ eventName }) => eventName.trim() === '')
                  ? t.exitUnnamed
                  : undefined
            }
          >
            {t.saveSettings}
          </ActionButton>
        </Group>
      </Stack>
    </form>
  );
}

function SettingsFields({
  form,
  set,
  failure,
}: {
  form: Settings;
  set: (changes: Partial<Settings>) => void;
  failure: ApiFailure | null;
}) {
  const readOnly = useMissingPermissionText('workflows:edit') !== undefined;
  const faultAt = (field: string) => failure?.fields.find((fault) => fault.field.startsWith(field))?.message;
  return (
    <>
      <TextInput
        label={t.name}
        value={form.name}
        maxLength={200}
        required
        disabled={readOnly}
        onChange={({ currentTarget: { value } }) => set({ name: value })}
        error={faultAt('name')}
      />
      <Textarea
        label={t.description}
        value={form.description}
        maxLength={2_000}
        autosize
        disabled={readOnly}
        onChange={({ currentTarget: { value } }) => set({ description: value })}
      />
      <EventNameInput
        label={t.event}
        description={t.eventHint}
        value={form.eventName}
        onChange={(eventName) => set({ eventName })}
        disabled={readOnly}
        error={faultAt('eventName')}
      />
      <AutomaticReplies
        eventName={form.eventName}
        at="trigger"
        checked={form.includeAutomatic}
        onChange={(includeAutomatic) => set({ includeAutomatic })}
        readOnly={readOnly}
      />
      <ExitEvents
        exits={form.exitOn}
        onChange={(exitOn) => set({ exitOn })}
        fields={failure?.fields ?? []}
        readOnly={readOnly}
      />
      <Checkbox
        label={t.exitWhenUnsubscribed}
        checked={form.exitWhenUnsubscribed}
        disabled={readOnly}
        onChange={({ currentTarget: { checked } }) => set({ exitWhenUnsubscribed: checked })}
      />
      <Checkbox
        label={t.allowReentry}
        checked={form.allowReentry}
        disabled={readOnly}
        onChange={({ currentTarget: { checked } }) => set({ allowReentry: checked })}
      />
      <TextInput
        label={t.reentryKey}
        description={t.reentryKeyHint}
        placeholder="event.cartId"
        value={form.reentryKey}
        disabled={readOnly}
        error={faultAt('reentryKey')}
        onChange={({ currentTarget: { value } }) => set({ reentryKey: value })}
      />
    </>
  );
}

function toForm(workflow: WorkflowDetail) {
  const { name, description, allowReentry, reentryKey, exitWhenUnsubscribed, includeAutomatic, exitOn } = workflow;
  return {
    name,
    description: description ?? '',
    eventName: getStartEvent(workflow) ?? '',
    allowReentry,
    reentryKey: reentryKey ?? '',
    exitWhenUnsubscribed,
    includeAutomatic,
    exitOn: toExitRows(exitOn),
  };
}

type Settings = ReturnType<typeof toForm>;

/** Returns the request body with only the changed settings. Sets the trigger type by whether there is an event. */
function toChangedFields(form: Settings, stored: Settings): InputOf<'updateWorkflow'>['body'] {
  const isChanged = (name: keyof Settings) => !isSame(form[name], stored[name]);
  const eventName = form.eventName.trim() || null;
  return {
    ...(isChanged('name') && { name: form.name }),
    ...(isChanged('description') && { description: form.description || null }),
    ...(isChanged('eventName') && {
      eventName,
      triggerType: eventName === null ? ('MANUAL' as const) : ('EVENT' as const),
    }),
    ...(isChanged('allowReentry') && { allowReentry: form.allowReentry }),
    ...(isChanged('reentryKey') && { reentryKey: form.reentryKey.trim() || null }),
    ...(isChanged('includeAutomatic') && { includeAutomatic: form.includeAutomatic }),
    ...(isChanged('exitWhenUnsubscribed') && { exitWhenUnsubscribed: form.exitWhenUnsubscribed }),
    ...(isChanged('exitOn') && { exitOn: toExits(form.exitOn) }),
  };
}

function settingAsText(_name: keyof Settings, value: Settings[keyof Settings]): string {
  if (typeof value === 'boolean') return text.conditions.truth[`${value}`];
  return typeof value === 'string' ? value : value.map(({ eventName }) => eventName).join('\n');
}

/** Asks for the name of an automation, and deletes it. */
export function DeleteAutomation({
  workflow: { id, name, updatedAt },
  onClose,
}: {
  workflow: WorkflowDetail;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const remove = useWrite('deleteWorkflow', { changes: ['listWorkflows'] });
  return (
    <ConfirmTyped
      opened
      onClose={onClose}
      title={t.deleteAutomation}
      what={t.deleteHelp(name)}
      word={name.trim()}
      action={t.deleteAutomation}
      write={remove}
      onConfirm={() =>
        remove.mutate(
          { params: { id }, seenAt: updatedAt },
          {
            onSuccess: () => {
              notifySuccess(t.deleted);
              void navigate({ to: '/automations' });
            },
          },
        )
      }
    />
  );
}
