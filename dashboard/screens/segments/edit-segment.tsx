import { useMemo, useState } from 'react';
import type { AnswerOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { conditionOf, type DraftCondition, draftOf, newCondition } from '../../parts/condition-builder/draft.ts';
import { tellDone } from '../../parts/tell.tsx';
import { useLocalDraft } from '../../parts/use-local-draft.ts';
import { text } from '../../text/text.ts';
import { type FormDraft, SegmentForm } from './segment-form.tsx';

const words = text.segments;
const CHANGED = [
  ...(['getSegment', 'listSegments', 'listSegmentContacts', 'explainSegment'] as const),
  ...(['getSegmentUsage', 'listSegmentHistory'] as const),
] as const;

/** The editor of a segment that is there. */
export function EditSegment({ segment }: { segment: AnswerOf<'getSegment'> }) {
  const { id, type, slug } = segment;
  const saved = useMemo(() => formOf(segment), [segment]);
  const editing = useLocalDraft({ name: `segment:${id}`, saved });
  const [sent, setSent] = useState<DraftCondition>();
  const update = useWrite('updateSegment', { changes: CHANGED });
  const save = () => {
    const { name, description, trackMembership, condition } = editing.draft;
    setSent(condition);
    const about = { name, description: description === '' ? null : description };
    const body = type === 'STATIC' ? about : { ...about, trackMembership, filters: conditionOf(condition) };
    update.mutate(
      { params: { id }, body },
      {
        onSuccess: () => {
          editing.forget();
          tellDone(words.saved);
        },
      },
    );
  };
  return (
    <SegmentForm
      type={type}
      editing={editing}
      saved={saved}
      savedSlug={slug}
      action={words.save}
      onSave={save}
      isSaving={update.isPending}
      failure={update.error}
      sent={sent}
    />
  );
}

function formOf({ name, description, trackMembership, condition }: AnswerOf<'getSegment'>): FormDraft {
  return {
    name,
    trackMembership,
    description: description ?? '',
    condition: condition ? draftOf(condition) : newCondition(),
  };
}
