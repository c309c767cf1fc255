import { useCallback, useEffect, useRef, useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { tellDone } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';
import { draftKey } from './draft-key.ts';
import { useTemplateDraft } from './template-draft.ts';
import { changesOf, fieldsOf, isChanged, type Template, type TemplateFields } from './template-fields.ts';

/** A template while somebody writes on it: what is written is kept in this browser until it is saved or given up. */
export function useTemplateEdit(latest: Template) {
  const { projectId } = useSession();
  const draft = useTemplateDraft<TemplateFields>(draftKey(projectId, latest.id));
  // The version that is written upon. Another one that comes meanwhile is told, and takes nothing away.
  const [base, setBase] = useState(latest);
  const [fields, setFields] = useState<TemplateFields>(() => ({ ...fieldsOf(latest), ...draft.found?.fields }));
  const [hasFoundDraft, setFoundDraft] = useState(
    () => draft.found !== undefined && isChanged({ ...fieldsOf(latest), ...draft.found.fields }, fieldsOf(latest)),
  );
  const saved = fieldsOf(base);
  const isDirty = isChanged(fields, saved);
  if (!isDirty && latest.updatedAt > base.updatedAt) {
    setBase(latest);
    setFields(fieldsOf(latest));
  }
  const write = useWrite('updateTemplate', { changes: ['listTemplates', 'getTemplate'] });

  const change = (changed: Partial<TemplateFields>) => {
    const now = { ...fields, ...changed };
    setFields(now);
    draft.keep({ fields: now, base: base.updatedAt, at: new Date().toISOString() });
  };
  const startFrom = useCallback(
    (template: Template) => {
      setBase(template);
      setFields(fieldsOf(template));
      setFoundDraft(false);
      draft.drop();
    },
    [draft.drop],
  );
  const save = () => {
    write.mutate(
      { params: { id: base.id }, body: changesOf(fields, saved) },
      {
        onSuccess: (template) => {
          setBase(template);
          // What was typed while it was being saved is still to be saved; all else is as the API has kept it.
          setFields((now) => (isChanged(now, fields) ? now : fieldsOf(template)));
          draft.drop();
          setFoundDraft(false);
          tellDone(text.templates.saved);
        },
      },
    );
  };
  useTellOnLeaving(isDirty, base.name);
  return {
    fields,
    change,
    isDirty,
    isKept: draft.isKept,
    /** A draft of an earlier visit is shown. */
    foundDraft: hasFoundDraft && isDirty ? draft.found : undefined,
    /** Somebody has saved since the writing began. */
    newer: isDirty && latest.updatedAt > base.updatedAt ? latest : undefined,
    isOlder: draft.found !== undefined && draft.found.base < latest.updatedAt,
    startFrom: () => startFrom(latest),
    save,
    isSaving: write.isPending,
    error: write.error,
  };
}

/** Who leaves the screen with unsaved changes is told where they are. */
function useTellOnLeaving(isDirty: boolean, name: string): void {
  const last = useRef({ isDirty, name });
  useEffect(() => {
    last.current = { isDirty, name };
  }, [isDirty, name]);
  useEffect(
    () => () => {
      if (last.current.isDirty) tellDone(text.templates.left(last.current.name));
    },
    [],
  );
}
