import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { conditionOf, type DraftCondition } from '../../parts/condition-builder/draft.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { useLocalDraft } from '../../parts/use-local-draft.ts';
import { text } from '../../text/text.ts';
import { EMPTY_FORM, SegmentForm } from './segment-form.tsx';

const words = text.segments;

/** The editor of a new segment. */
export function NewSegment() {
  const { type = 'DYNAMIC' } = useSearch({ from: '/shell/segments/new' });
  const navigate = useNavigate();
  const editing = useLocalDraft({ name: `segment:new:${type}`, saved: EMPTY_FORM() });
  const [sent, setSent] = useState<DraftCondition>();
  const create = useWrite('createSegment', { changes: ['listSegments'] });
  const save = () => {
    const { name, description, trackMembership, condition } = editing.draft;
    setSent(condition);
    const about = { name, ...(description !== '' && { description }), type };
    const body = type === 'STATIC' ? about : { ...about, trackMembership, filters: conditionOf(condition) };
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
        saved={EMPTY_FORM()}
        action={words.createIt}
        onSave={save}
        isSaving={create.isPending}
        failure={create.error}
        sent={sent}
      />
    </>
  );
}
