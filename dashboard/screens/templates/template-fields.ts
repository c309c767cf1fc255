import type { InputOf, ResponseOf } from '../../api/client.ts';

export type Template = ResponseOf<'getTemplate'>;

/** The fields that the editor changes. A missing value is an empty string. */
export interface TemplateForm {
  name: string;
  description: string;
  subject: string;
  preheader: string;
  body: string;
  type: Template['type'];
  from: string;
  fromName: string;
  replyTo: string;
  topicId: string;
}

/** Returns the fields of a saved template. */
export function toTemplateForm(template: Template): TemplateForm {
  const { name, description, subject, preheader, body, type, from, fromName, replyTo, topicId } = template;
  return {
    name,
    subject,
    body,
    type,
    description: description ?? '',
    preheader: preheader ?? '',
    topicId: topicId ?? '',
    from: from ?? '',
    fromName: fromName ?? '',
    replyTo: replyTo ?? '',
  };
}

/** Returns whether any field has changed. */
export function isChanged(now: TemplateForm, saved: TemplateForm): boolean {
  return findChangedFields(now, saved).length > 0;
}

function findChangedFields(now: TemplateForm, saved: TemplateForm): (keyof TemplateForm)[] {
  return (Object.keys(saved) as (keyof TemplateForm)[]).filter((name) => now[name] !== saved[name]);
}

/** Fields that may be empty; the API then gets null. */
const NULLABLE: (keyof TemplateForm)[] = ['description', 'preheader', 'from', 'fromName', 'replyTo', 'topicId'];

/** Returns the request body with only the changed fields, so that other users' changes of other fields stay. */
export function toChangedFields(now: TemplateForm, saved: TemplateForm): InputOf<'updateTemplate'>['body'] {
  const changes = findChangedFields(now, saved).map((name) => [
    name,
    NULLABLE.includes(name) && now[name].trim() === '' ? null : now[name],
  ]);
  // Transactional email has no topic, so a change to this type clears it.
  const topic = now.type === 'TRANSACTIONAL' && saved.topicId !== '' ? { topicId: null } : {};
  return { ...Object.fromEntries(changes), ...topic };
}
