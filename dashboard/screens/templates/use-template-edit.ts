import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef } from 'react';
import { useWrite } from '../../api/queries.ts';
import { notifySuccess } from '../../parts/notifications.tsx';
import { isStale, useRecordEdit } from '../../parts/record-edit/use-record-edit.ts';
import { text } from '../../text/text.ts';
import { type Template, toChangedFields, toTemplateForm } from './template-fields.ts';

/** Returns the name of a template's draft in this browser. */
export const getDraftName = (templateId: string): string => `template:${templateId}`;

/** Edits a template. This browser keeps the changes until they are saved or discarded. */
export function useTemplateEdit(template: Template) {
  const queries = useQueryClient();
  const stored = useMemo(() => toTemplateForm(template), [template]);
  const write = useWrite('updateTemplate', { changes: ['listTemplates', 'getTemplate'] });
  const edit = useRecordEdit({ name: getDraftName(template.id), stored, isSaving: write.isPending });
  const { fields } = edit;
  const save = () => {
    if (edit.hasConflict) return;
    write.mutate(
      { params: { id: template.id }, body: { ...toChangedFields(fields, stored), updatedAt: template.updatedAt } },
      {
        onSuccess: (saved) => {
          edit.markSaved(fields, toTemplateForm(saved));
          notifySuccess(text.templates.saved);
        },
        onError: (error) => {
          if (!isStale(error)) return;
          edit.markStale();
          void queries.invalidateQueries({ queryKey: ['getTemplate'] });
        },
      },
    );
  };
  useNoticeOnLeaving(edit.isTouched, template.name);
  return { ...edit, save, isSaving: write.isPending, error: isStale(write.error) ? null : write.error };
}

/** Tells users who leave with unsaved changes that this browser keeps the changes. */
function useNoticeOnLeaving(isDirty: boolean, name: string): void {
  const last = useRef({ isDirty, name });
  useEffect(() => {
    last.current = { isDirty, name };
  }, [isDirty, name]);
  useEffect(
    () => () => {
      if (last.current.isDirty) notifySuccess(text.templates.left(last.current.name));
    },
    [],
  );
}
