import { expect, it } from 'vitest';
import { describeActor } from '../../dashboard/screens/contacts/contact/who.ts';
import { wordOf, wordsOf } from '../../dashboard/text/words.ts';
import { AUDIT_ACTIONS } from '../../db/projects/audit-log.ts';
import { EMAIL_PROVIDERS } from '../../rules/emails/email-providers.ts';

const REPORTERS = [...Object.keys(EMAIL_PROVIDERS), 'dsn', 'arf', 'simulator'];

it('names every action of the audit log', () => {
  expect(wordsOf('audit').sort()).toEqual([...AUDIT_ACTIONS].sort());
});

it('names every source of a suppression', () => {
  const sources = ['dashboard', 'api', 'unsubscribe_page', ...REPORTERS];
  expect(sources.filter((source) => !wordOf('source', source))).toEqual([]);
});

it('names every reporter of a bounce or complaint', () => {
  expect(REPORTERS.filter((reporter) => describeActor(reporter, null) === reporter)).toEqual([]);
});
