import { Alert, Button, ColorInput, Group, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useMemo } from 'react';
import type { ApiFailure, ResponseOf } from '../../../api/client.ts';
import { queryFor, useWrite } from '../../../api/queries.ts';
import { ActionButton } from '../../../parts/action-button.tsx';
import { Failed } from '../../../parts/failed.tsx';
import { FormSection } from '../../../parts/form-section.tsx';
import { PendingForm } from '../../../parts/gray-parts.tsx';
import { notifySuccess } from '../../../parts/notifications.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { Conflict } from '../../../parts/record-edit/conflict.tsx';
import { useRecordEdit } from '../../../parts/record-edit/use-record-edit.ts';
import { text } from '../../../text/text.ts';
import { ConsentFields } from './consent-fields.tsx';
import type { FieldsProps } from './fields-props.ts';
import { HoldCard } from './hold-card.tsx';
import { LimitFields } from './limit-fields.tsx';
import { toChangedSettings, toProjectDraft } from './project-draft.ts';
import { SETTING_NAMES, settingAsText } from './setting-as-text.ts';
import { WindowFields } from './window-fields.tsx';

const words = text.settings.project;

/** Settings of the project: name, color, sending times, consent, limits and hold. */
export function Project() {
  const project = useQuery(queryFor('getProject'));
  return (
    <QueryView of={project} pending={<PendingForm />}>
      {(loaded) => (
        <>
          <Form key={loaded.id} project={loaded} />
          <FormSection title={words.hold} what={words.holdHelp}>
            <HoldCard project={loaded} />
          </FormSection>
        </>
      )}
    </QueryView>
  );
}

function Form({ project }: { project: ResponseOf<'getProject'> }) {
  const stored = useMemo(() => toProjectDraft(project), [project]);
  const queries = useQueryClient();
  const update = useWrite('updateProject', { changes: ['getProject', 'getMe', 'listAuditLog'] });
  const save = useMutation<void, ApiFailure>({
    mutationFn: async () => {
      // The API has no version of the project, so it cannot refuse to overwrite changes that this form has not read.
      const latest = await queries.fetchQuery({ ...queryFor('getProject'), staleTime: 0 });
      const { fields, hasConflict } = edit.applyTo(toProjectDraft(latest));
      if (hasConflict) return;
      const saved = await update.mutateAsync({ body: toChangedSettings(latest, fields) });
      edit.markSaved(fields, toProjectDraft(saved));
      notifySuccess(text.settings.saved);
    },
  });
  const edit = useRecordEdit({ name: 'project-settings', stored, isSaving: save.isPending });
  const { fields: draft, hasConflict } = edit;
  const isChanged = Object.keys(toChangedSettings(project, draft)).length > 0;
  const faults = save.error?.fields ?? [];
  const fault = (name: string) => faults.find(({ field }) => field === name || field.startsWith(`${name}.`))?.message;
  const fieldsProps: FieldsProps = { draft, set: edit.change, fault, project };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged && !hasConflict) save.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Conflict edit={edit} labels={SETTING_NAMES} show={settingAsText} />
      {edit.isRestored && isChanged && !hasConflict && (
        <Alert color="blue" mb="md">
          {text.settings.draftKept}
        </Alert>
      )}
      <FormSection title={words.about} what={words.aboutHelp}>
        <TextInput
          label={words.name}
          required
          maxLength={100}
          value={draft.name}
          onChange={(event) => fieldsProps.set({ name: event.currentTarget.value })}
          error={fault('name')}
        />
        <ColorInput
          label={words.color}
          description={words.colorHelp}
          placeholder={words.colorDefault}
          value={draft.color}
          onChange={(color) => fieldsProps.set({ color })}
          format="hex"
          eyeDropperButtonProps={{ 'aria-label': words.color }}
          error={fault('color')}
        />
      </FormSection>
      <FormSection title={words.sending} what={words.sendingHelp}>
        <WindowFields {...fieldsProps} />
      </FormSection>
      <FormSection title={words.consent} what={words.consentHelp}>
        <ConsentFields {...fieldsProps} />
      </FormSection>
      <FormSection title={words.limits} what={words.limitsHelp}>
        <LimitFields {...fieldsProps} />
      </FormSection>
      {save.error && <Failed error={save.error} />}
      {isChanged && (
        <Group className="save-bar" justify="space-between" role="group" aria-label={text.settings.unsaved}>
          <Text size="sm">{text.settings.unsaved}</Text>
          <Group gap="xs">
            <Button variant="default" onClick={edit.discard}>
              {text.settings.discard}
            </Button>
            <ActionButton
              needs="project:manage"
              type="submit"
              loading={save.isPending}
              whyNot={hasConflict ? text.parts.conflict.chooseFirst : undefined}
            >
              {text.settings.save}
            </ActionButton>
          </Group>
        </Group>
      )}
    </form>
  );
}
