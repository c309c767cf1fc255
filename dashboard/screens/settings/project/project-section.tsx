import { Alert, Button, ColorInput, Group, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useMemo } from 'react';
import type { ResponseOf } from '../../../api/client.ts';
import { queryFor, useWrite } from '../../../api/queries.ts';
import { ActionButton } from '../../../parts/action-button.tsx';
import { Failed } from '../../../parts/failed.tsx';
import { FormSection } from '../../../parts/form-section.tsx';
import { PendingForm } from '../../../parts/gray-parts.tsx';
import { notifySuccess } from '../../../parts/notifications.tsx';
import { QueryView } from '../../../parts/query-view.tsx';
import { useLocalDraft } from '../../../parts/use-local-draft.ts';
import { text } from '../../../text/text.ts';
import { ConsentFields } from './consent-fields.tsx';
import type { FieldsProps } from './fields-props.ts';
import { HoldCard } from './hold-card.tsx';
import { LimitFields } from './limit-fields.tsx';
import { toChangedSettings, toProjectDraft } from './project-draft.ts';
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
  const saved = useMemo(() => toProjectDraft(project), [project]);
  const { draft, change, isRestored, discard, forget } = useLocalDraft({ name: 'settings:project', saved });
  const update = useWrite('updateProject', { changes: ['getProject', 'getMe', 'listAuditLog'] });
  const changes = toChangedSettings(project, draft);
  const isChanged = Object.keys(changes).length > 0;
  const faults = update.error?.fields ?? [];
  const fault = (name: string) => faults.find(({ field }) => field === name || field.startsWith(`${name}.`))?.message;
  const fieldsProps: FieldsProps = { draft, set: (changed) => change({ ...draft, ...changed }), fault, project };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isChanged) return;
    const done = () => {
      forget();
      notifySuccess(text.settings.saved);
    };
    update.mutate({ body: changes }, { onSuccess: done });
  };
  return (
    <form onSubmit={submit}>
      {isRestored && isChanged && (
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
      {update.error && <Failed error={update.error} />}
      {isChanged && (
        <Group className="save-bar" justify="space-between" role="group" aria-label={text.settings.unsaved}>
          <Text size="sm">{text.settings.unsaved}</Text>
          <Group gap="xs">
            <Button variant="default" onClick={() => discard(saved)}>
              {text.settings.discard}
            </Button>
            <ActionButton needs="project:manage" type="submit" loading={update.isPending}>
              {text.settings.save}
            </ActionButton>
          </Group>
        </Group>
      )}
    </form>
  );
}
