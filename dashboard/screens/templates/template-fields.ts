import type { InputOf, ResponseOf } from '../../api/client.ts';

export type Template = ResponseOf<'getTemplate'>;

/** What the editor changes; what is empty is a text, so that every field is one. */
export interface TemplateFields {
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

/** What a saved template says, as fields. */
export function fieldsOf(template: Template): TemplateFields {
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

/** Whether something was changed. */
export function isChanged(now: TemplateFields, saved: TemplateFields): boolean {
  return changedNames(now, saved).length > 0;
}

function changedNames(now: TemplateFields, saved: TemplateFields): (keyof TemplateFields)[] {
  return (Object.keys(saved) as (keyof TemplateFields)[]).filter((name) => now[name] !== saved[name]);
}

/** May be nothing: then the API is told null. */
const CLEARED: (keyof TemplateFields)[] = ['description', 'preheader', 'from', 'fromName', 'replyTo', 'topicId'];

/**
 * The body of the request that saves: what was changed and nothing else, so that what others changed meanwhile stays.
 */
export function changesOf(now: TemplateFields, saved: TemplateFields): InputOf<'updateTemplate'>['body'] {
  const changes = changedNames(now, saved).map((name) => [
    name,
    CLEARED.includes(name) && now[name].trim() === '' ? null : now[name],
  ]);
  // Transactional mail has no topic: who changes the type clears it.
  const topic = now.type === 'TRANSACTIONAL' && saved.topicId !== '' ? { topicId: null } : {};
  return { ...Object.fromEntries(changes), ...topic };
}
