import { expect, it } from 'vitest';
import { describeUnknownOperator, suggestField } from './filter-names.ts';

it.each([
  ['created_at', 'Did you mean createdAt?'],
  ['emial', 'Did you mean email?'],
  ['Email', 'Did you mean email?'],
  ['email.open', 'Did you mean email.opened?'],
  ['plan', 'A custom field is written data.plan.'],
  ['contact.plan', 'A custom field is written data.plan.'],
  ['smsSubscribed', undefined],
  ['id', undefined],
  ['data..a', undefined],
])('for the unknown field %s the error says %s', (field, sentence) => {
  expect(suggestField(field)).toBe(sentence);
});

it.each([
  ['EQUALS', 'equals'],
  ['eq', 'equals'],
  ['not_equals', 'notEquals'],
  ['>=', 'greaterThanOrEqual'],
  ['isEmpty', 'notExists'],
  ['doesNotContain', 'notContains'],
  ['containz', 'contains'],
])('for the unknown operator %s the error suggests %s', (written, meant) => {
  expect(describeUnknownOperator(written)).toMatch(new RegExp(`^Did you mean ${meant}\\? Must be one of equals,`));
});

it('suggests no operator that is not similar', () => {
  expect(describeUnknownOperator('between')).toMatch(/^Must be one of/);
  expect(describeUnknownOperator('constructor')).toMatch(/^Must be one of/);
});
