import { Select, Switch, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { queryFor } from '../../../api/queries.ts';
import { text } from '../../../text/text.ts';
import type { FieldsProps } from './fields-props.ts';
import type { ProjectDraft } from './project-draft.ts';

const words = text.settings.project;
const KEY_MODES = (['protected', 'open'] as const).map((value) => ({ value, label: words.publicKeyModes[value] }));
const TRACKINGS = (['ENABLED', 'MARKETING_ONLY', 'DISABLED'] as const).map((value) => ({
  value,
  label: words.trackings[value],
}));

/** Tracking, double opt-in, and the changes that the public key and the project may make. */
export function ConsentFields({ draft, set, fault }: FieldsProps) {
  const { data } = useQuery({
    ...queryFor('listTemplates', { query: { limit: 100 } }),
    enabled: draft.doubleOptIn.enabled,
  });
  const templates = (data?.templates ?? []).map(({ id, name }) => ({ value: id, label: name }));
  return (
    <>
      <Select
        label={words.tracking}
        data={TRACKINGS}
        value={draft.tracking}
        onChange={(tracking) => tracking && set({ tracking: tracking as ProjectDraft['tracking'] })}
        allowDeselect={false}
        error={fault('tracking')}
      />
      <Switch
        label={words.doubleOptIn}
        description={words.doubleOptInHelp}
        checked={draft.doubleOptIn.enabled}
        onChange={(event) => set({ doubleOptIn: { ...draft.doubleOptIn, enabled: event.currentTarget.checked } })}
      />
      {draft.doubleOptIn.enabled && (
        <Select
          label={words.confirmTemplate}
          description={words.confirmTemplateHelp}
          data={templates}
          value={draft.doubleOptIn.templateId}
          onChange={(templateId) => set({ doubleOptIn: { ...draft.doubleOptIn, templateId } })}
          searchable
          error={fault('doubleOptIn')}
          ml="xl"
        />
      )}
      <Select
        label={words.publicKeyMode}
        description={words.publicKeyModeHelp}
        data={KEY_MODES}
        value={draft.publicKeyMode}
        onChange={(mode) => mode && set({ publicKeyMode: mode as ProjectDraft['publicKeyMode'] })}
        allowDeselect={false}
        error={fault('publicKeyMode')}
      />
      <TextInput
        label={words.phoneCountry}
        description={words.phoneCountryHelp}
        placeholder="DE"
        value={draft.phoneCountry}
        onChange={(event) => set({ phoneCountry: event.currentTarget.value })}
        error={fault('phoneCountry')}
        maxLength={2}
      />
      <Switch
        label={words.protectRefusals}
        description={words.protectRefusalsHelp}
        checked={draft.resubscribe === 'protect'}
        onChange={(event) => set({ resubscribe: event.currentTarget.checked ? 'protect' : 'allow' })}
      />
    </>
  );
}
