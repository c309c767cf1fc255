import { expect, it } from 'vitest';
import { SKIPPED } from '../../dashboard/screens/campaigns/outcomes.ts';
import { describeActor } from '../../dashboard/screens/contacts/contact/describe-actor.ts';
import { findWord, listExplainedValues } from '../../dashboard/text/words.ts';
import { SKIP_REASONS } from '../../db/campaigns/outcomes.ts';
import { AUDIT_ACTIONS } from '../../db/projects/audit-log.ts';
import { EMAIL_PROVIDERS } from '../../rules/emails/email-providers.ts';

const REPORTERS = [...Object.keys(EMAIL_PROVIDERS), 'dsn', 'arf', 'simulator'];

it('the dashboard names every action of the audit log', () => {
  expect(listExplainedValues('audit').sort()).toEqual([...AUDIT_ACTIONS].sort());
});

it('the dashboard names every source of a suppression', () => {
  const sources = ['dashboard', 'api', 'unsubscribe_page', ...REPORTERS];
  expect(sources.filter((source) => !findWord('source', source))).toEqual([]);
});

it('the dashboard names every reporter of a bounce or complaint', () => {
  expect(REPORTERS.filter((reporter) => describeActor(reporter, null) === reporter)).toEqual([]);
});

it('the dashboard counts recipients as skipped by the same reasons as the API', () => {
  expect([...SKIPPED].sort()).toEqual([...SKIP_REASONS].sort());
});
