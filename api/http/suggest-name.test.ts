import { expect, it } from 'vitest';
import { suggestName } from './suggest-name.ts';

const SEND = [
  'to',
  'subject',
  'body',
  'template',
  'from',
  'name',
  'subscribed',
  'data',
  'headers',
  'reply',
  'attachments',
];

it.each([
  ['HtmlBody', 'body'],
  ['TemplateModel', 'data'],
  ['dynamic_template_data', 'data'],
  ['transactionalId', 'template'],
  ['transactional_message_id', 'template'],
  ['dataVariables', 'data'],
  ['message_data', 'data'],
  ['identifiers', 'to'],
  ['from_name', 'name'],
  ['attachment', 'attachments'],
  ['sujbect', 'subject'],
  ['track_opens', undefined],
  ['constructor', undefined],
])('for %s, a name of another service or a typo, suggests %s', (name, meant) => {
  expect(suggestName(name, SEND)).toBe(meant);
});
