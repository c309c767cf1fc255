import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { type DraftCondition, toCondition, toConditionDraft } from '../../parts/condition-builder/draft.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { useLocalDraft } from '../../parts/use-local-draft.ts';
import { text } from '../../text/text.ts';
import { createEmptyForm, SegmentForm } from './segment-form.tsx';

const words = text.segments;

/** The editor of a new segment. */
export function NewSegment() {
  const { type = 'DYNAMIC', condition } = useSearch({ from: '/shell/segments/new' });
  const navigate = useNavigate();
  const [initial] = useState(() => ({
    ...createEmptyForm(),
    ...(condition && { condition: toConditionDraft(condition) }),
  }));
  // A draft of another condition would hide the condition from the URL.
  const name = ['segment:new', type, ...(condition ? [JSON.stringify(condition)] : [])].join(':');
  const editing = useLocalDraft({ name, initial });
  const [sent, setSent] = useState<DraftCondition>();
  const create = useWrite('createSegment', { changes: ['listSegments'] });
  const save = () => {
    const { description, trackMembership, ...draft } = editing.draft;
    setSent(draft.condition);
    const about = { name: draft.name, ...(description !== '' && { description }), type };
    const body = type === 'STATIC' ? about : { ...about, trackMembership, filters: toCondition(draft.condition) };
    create.mutate(
      { body },
      {
        onSuccess: ({ id }) => {
          editing.forget();
          void navigate({ to: '/segments/$segmentId', params: { segmentId: id }, replace: true });
        },
      },
    );
  };
  return (
    <>
      <PageHead
        title={type === 'STATIC' ? words.newStatic : words.new}
        subtitle={words.typesMean[type]}
        back={{ to: '/segments', label: words.list }}
      />
      <SegmentForm
        type={type}
        editing={editing}
        saved={initial}
        action={words.createIt}
        onSave={save}
        isSaving={create.isPending}
        failure={create.error}
        sent={sent}
      />
    </>
  );
}
