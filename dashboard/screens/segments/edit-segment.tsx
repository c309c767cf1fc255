import { Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { InputOf, ResponseOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { conditionAsText } from '../../parts/condition-builder/condition-as-text.ts';
import {
  type DraftCondition,
  newCondition,
  toCondition,
  toConditionDraft,
} from '../../parts/condition-builder/draft.ts';
import { notifySuccess } from '../../parts/notifications.tsx';
import { isSame } from '../../parts/record-edit/changes.ts';
import { Conflict } from '../../parts/record-edit/conflict.tsx';
import { isStale, useRecordEdit } from '../../parts/record-edit/use-record-edit.ts';
import { text } from '../../text/text.ts';
import { type FormDraft, SegmentForm } from './segment-form.tsx';

const words = text.segments;
const CHANGED = [
  ...(['getSegment', 'listSegments', 'listSegmentContacts', 'explainSegment'] as const),
  ...(['getSegmentUsage', 'listSegmentHistory'] as const),
] as const;

/** The editor of an existing segment. */
export function EditSegment({ segment }: { segment: ResponseOf<'getSegment'> }) {
  const { id, type, slug } = segment;
  const saved = useMemo(() => toForm(segment), [segment]);
  const [sent, setSent] = useState<DraftCondition>();
  const queries = useQueryClient();
  const update = useWrite('updateSegment', { changes: CHANGED });
  const edit = useRecordEdit({ name: `segment:${id}`, stored: saved, isSaving: update.isPending });
  const save = () => {
    if (edit.hasConflict) return;
    const { fields } = edit;
    setSent(fields.condition);
    update.mutate(
      { params: { id }, body: { ...toChangedFields(fields, saved, type), updatedAt: segment.updatedAt } },
      {
        onSuccess: (stored) => {
          edit.markSaved(fields, toForm(stored));
          notifySuccess(words.saved);
        },
        onError: (error) => {
          if (!isStale(error)) return;
          edit.markStale();
          void queries.invalidateQueries({ queryKey: ['getSegment'] });
        },
      },
    );
  };
  return (
    <Stack>
      <Conflict edit={edit} labels={words.fieldNames} show={fieldAsText} />
      <SegmentForm
        type={type}
        editing={{ ...edit, draft: edit.fields }}
        saved={saved}
        savedSlug={slug}
        action={words.save}
        onSave={save}
        isSaving={update.isPending}
        failure={isStale(update.error) ? null : update.error}
        sent={sent}
        whyNot={edit.hasConflict ? text.parts.conflict.chooseFirst : undefined}
      />
    </Stack>
  );
}

function toForm({ name, description, trackMembership, condition }: ResponseOf<'getSegment'>): FormDraft {
  return {
    name,
    trackMembership,
    description: description ?? '',
    condition: condition ? toConditionDraft(condition) : newCondition(),
  };
}

/** Returns the request body with only the changed fields. A STATIC segment has no condition and is not tracked. */
function toChangedFields(
  fields: FormDraft,
  saved: FormDraft,
  type: ResponseOf<'getSegment'>['type'],
): InputOf<'updateSegment'>['body'] {
  const isChanged = (name: keyof FormDraft) => !isSame(fields[name], saved[name]);
  return {
    ...(isChanged('name') && { name: fields.name }),
    ...(isChanged('description') && { description: fields.description === '' ? null : fields.description }),
    ...(type === 'DYNAMIC' && isChanged('trackMembership') && { trackMembership: fields.trackMembership }),
    ...(type === 'DYNAMIC' && isChanged('condition') && { filters: toCondition(fields.condition) }),
  };
}

function fieldAsText(_name: keyof FormDraft, value: FormDraft[keyof FormDraft]): string {
  if (typeof value === 'object') return conditionAsText(value);
  return typeof value === 'boolean' ? text.conditions.truth[`${value}`] : value;
}
