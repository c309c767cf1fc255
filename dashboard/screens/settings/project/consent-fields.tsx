import { Select, Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { answerOf } from '../../../api/queries.ts';
import { text } from '../../../text/text.ts';
import type { ProjectDraft } from './project-draft.ts';
import type { FieldsProps } from './project-section.tsx';

const words = text.settings.project;
const TRACKINGS = (['ENABLED', 'MARKETING_ONLY', 'DISABLED'] as const).map((value) => ({
  value,
  label: words.trackings[value],
}));

/** Tracking and double opt-in. */
export function ConsentFields({ draft, set, fault }: FieldsProps) {
  const { data } = useQuery({ ...answerOf('listTemplates', { query: { limit: 100 } }), enabled: draft.doubleOptIn });
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
        maw={360}
      />
      <Switch
        label={words.doubleOptIn}
        description={words.doubleOptInWhat}
        checked={draft.doubleOptIn}
        onChange={(event) => set({ doubleOptIn: event.currentTarget.checked })}
      />
      {draft.doubleOptIn && (
        <Select
          label={words.confirmTemplate}
          description={words.confirmTemplateWhat}
          data={templates}
          value={draft.templateId}
          onChange={(templateId) => set({ templateId })}
          searchable
          error={fault('doubleOptIn')}
          maw={360}
          ml="xl"
        />
      )}
    </>
  );
}
