import { Button, Group, Paper, SimpleGrid, Stack, Switch, Textarea, TextInput, Title } from '@mantine/core';
import { type FormEvent, useMemo } from 'react';
import type { ApiFailure } from '../../api/client.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConditionBuilder } from '../../parts/condition-builder/condition-builder.tsx';
import { type DraftCondition, isComplete, newCondition } from '../../parts/condition-builder/draft.ts';
import { mapFaultsToRows, NO_FAULTS } from '../../parts/condition-builder/faults.ts';
import { Failed } from '../../parts/failed.tsx';
import { ignoreEnterInField } from '../../parts/on-enter.ts';
import { RestoredDraft } from '../../parts/record-edit/restored-draft.tsx';
import { text } from '../../text/text.ts';
import { Preview, usePreview } from './preview.tsx';

const words = text.segments;

/** Editable fields of a segment. */
export interface FormDraft {
  name: string;
  description: string;
  trackMembership: boolean;
  condition: DraftCondition;
}

export function createEmptyForm(): FormDraft {
  return { name: '', description: '', trackMembership: false, condition: newCondition() };
}

/** The editor of a segment: name, condition with its current matches, and tracking. */
export function SegmentForm({
  type,
  editing: { draft, change, isRestored, isTouched, discard },
  saved,
  savedSlug,
  action,
  onSave,
  isSaving,
  failure,
  sent,
  whyNot,
}: {
  type: 'DYNAMIC' | 'STATIC';
  editing: {
    draft: FormDraft;
    change: (draft: FormDraft) => void;
    isRestored: boolean;
    isTouched: boolean;
    discard: (saved: FormDraft) => void;
  };
  /** The fields that Discard restores. */
  saved: FormDraft;
  /** Slug of an existing segment. */
  savedSlug?: string;
  action: string;
  onSave: () => void;
  isSaving: boolean;
  failure: ApiFailure | null;
  /** The condition of the last save. The errors of `failure` belong to its rows. */
  sent: DraftCondition | undefined;
  /** Why the segment cannot be saved now. */
  whyNot?: string | undefined;
}) {
  const fieldError = (name: string) => failure?.fields.find(({ field }) => field === name)?.message;
  const isShownAtFields = failure?.fields.length !== 0 && failure?.code === 'VALIDATION_ERROR';
  const missing =
    draft.name.trim() === ''
      ? words.nameMissing
      : type === 'DYNAMIC' && !isComplete(draft.condition)
        ? words.ruleMissing
        : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (missing === undefined) onSave();
  };
  return (
    <form onSubmit={submit} onKeyDown={ignoreEnterInField}>
      <Stack>
        {isRestored && (
          <RestoredDraft discardLabel={words.discardDraft} onDiscard={() => discard(saved)}>
            {words.draftKept}
          </RestoredDraft>
        )}
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput
            label={words.name}
            required
            autoFocus={savedSlug === undefined}
            maxLength={255}
            value={draft.name}
            onChange={(event) => change({ ...draft, name: event.currentTarget.value })}
            description={savedSlug && (draft.name === saved.name ? words.slugHelp(savedSlug) : words.renameWarns)}
            error={fieldError('name')}
          />
          <Textarea
            label={words.description}
            maxLength={2000}
            autosize
            minRows={1}
            value={draft.description}
            onChange={(event) => change({ ...draft, description: event.currentTarget.value })}
            error={fieldError('description')}
          />
        </SimpleGrid>
        {type === 'DYNAMIC' && <ConditionFields draft={draft} change={change} failure={failure} sent={sent} />}
        {failure && !isShownAtFields && <Failed error={failure} />}
        <Group>
          <ActionButton needs="segments:edit" type="submit" loading={isSaving} whyNot={whyNot ?? missing}>
            {action}
          </ActionButton>
          {isTouched && savedSlug && (
            <Button variant="default" onClick={() => discard(saved)}>
              {words.discardDraft}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

/** The condition with its current matches, and whether changes of the membership are recorded as events. */
function ConditionFields({
  draft,
  change,
  failure,
  sent,
}: {
  draft: FormDraft;
  change: (draft: FormDraft) => void;
  failure: ApiFailure | null;
  sent: DraftCondition | undefined;
}) {
  const preview = usePreview(draft.condition, true);
  const refused = useMemo(() => {
    if (!failure || !sent) return NO_FAULTS;
    const { rows, other } = mapFaultsToRows(sent, failure.fields, 'filters');
    return { rows, other: other.filter(({ field }) => field === 'filters' || field.startsWith('filters.')) };
  }, [failure, sent]);
  return (
    <>
      <Title order={2} size="h4">
        {words.condition}
      </Title>
      <ConditionBuilder
        value={draft.condition}
        onChange={(condition) => change({ ...draft, condition })}
        faults={refused === NO_FAULTS ? preview.faults : refused}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Preview {...preview} />
        <Paper withBorder p="md">
          <Switch
            label={words.track}
            description={words.trackedMeans}
            checked={draft.trackMembership}
            onChange={(event) => change({ ...draft, trackMembership: event.currentTarget.checked })}
          />
        </Paper>
      </SimpleGrid>
    </>
  );
}
