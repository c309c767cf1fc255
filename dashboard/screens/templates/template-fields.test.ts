import { describe, expect, it } from 'vitest';
import { isChanged, type Template, toChangedFields, toTemplateForm } from './template-fields.ts';

const SAVED: Template = {
  id: 'x',
  slug: 'welcome',
  name: 'Welcome',
  subject: 'Hi',
  body: '<p>a</p>',
  type: 'MARKETING',
  description: null,
  preheader: 'p',
  from: null,
  fromName: null,
  replyTo: null,
  topicId: 't',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};
const saved = toTemplateForm(SAVED);

describe('saving', () => {
  it('sends only changed fields', () => {
    expect(isChanged({ ...saved }, saved)).toBe(false);
    expect(toChangedFields({ ...saved, subject: 'Hello' }, saved)).toEqual({ subject: 'Hello' });
  });

  it('sends null for an emptied field', () => {
    expect(toChangedFields({ ...saved, preheader: ' ' }, saved)).toEqual({ preheader: null });
  });

  it('removes the topic of a template that is TRANSACTIONAL now', () => {
    expect(toChangedFields({ ...saved, type: 'TRANSACTIONAL' }, saved)).toEqual({
      type: 'TRANSACTIONAL',
      topicId: null,
    });
  });
});
