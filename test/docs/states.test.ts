import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';
import { SUBSCRIPTIONS } from '../../db/contacts/contacts.ts';
import { CAMPAIGN_STATUSES, PAUSED_REASONS } from '../../rules/campaigns/campaign.ts';
import { canChangeStatus, EMAIL_STATUSES } from '../../rules/emails/email-status.ts';
import { SUPPRESSION_REASONS } from '../../rules/emails/reasons.ts';
import { EXECUTION_STATUSES, VISIT_STATUSES } from '../../rules/executions/execution.ts';
import { FAILURE_CODES } from '../../rules/executions/failure-codes.ts';

const CONCEPTS = join(packageRoot(), 'docs', 'concepts');
const read = (concept: string): string => readFileSync(join(CONCEPTS, `${concept}.md`), 'utf8');
const START_OR_END = '[*]';

/** Returns the transitions of the page's state diagram. */
function listTransitions(concept: string): { from: string; to: string; cause: string }[] {
  const [, diagram = ''] = /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/.exec(read(concept)) ?? [];
  return diagram
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [, from = '', to = '', cause = ''] = /^ {2}(\S+) --> (\w+): (.+)$/.exec(line) ?? [];
      return { from, to, cause };
    });
}

function listStates(concept: string): string[] {
  const all = listTransitions(concept).flatMap(({ from, to }) => [from, to]);
  return [...new Set(all)].filter((state) => state !== START_OR_END).sort();
}

/** Returns the code words in the first column of the table that has this first heading. */
function listFirstCells(concept: string, heading: string): string[] {
  const [, table = ''] = read(concept).split(`\n| ${heading} |`);
  const rows = table.slice(0, table.indexOf('\n\n')).split('\n').slice(2);
  return rows.flatMap((row) => row.split('|')[1]?.match(/\w+/g) ?? []);
}

it.each([
  ['email', EMAIL_STATUSES],
  ['campaign', CAMPAIGN_STATUSES],
  ['execution', EXECUTION_STATUSES],
  ['consent', SUBSCRIPTIONS],
])('the diagram of %s has exactly the statuses of the code', (concept, statuses) => {
  expect(listStates(concept)).toEqual([...statuses].sort());
});

it('each page about a concept has one diagram, and each transition in it has a cause', () => {
  const pages = readdirSync(CONCEPTS).map((file) => file.replace('.md', ''));
  expect(pages.sort()).toEqual(['campaign', 'consent', 'email', 'execution', 'tenant']);
  for (const page of pages) {
    expect(listTransitions(page).length).toBeGreaterThan(5);
    expect(listTransitions(page).filter(({ cause }) => cause === '')).toEqual([]);
  }
});

it('the diagram of an email changes a sent status only as the code permits', () => {
  const reported = ['SENT', 'DELIVERED', 'OPENED', 'CLICKED'] as const;
  const moves = EMAIL_STATUSES.flatMap((to) => reported.map((from) => ({ from, to })));
  const drawn = listTransitions('email').filter(({ from }) => reported.some((status) => status === from));
  expect(drawn.length).toBeGreaterThan(5);
  for (const { from, to } of drawn) {
    const move = moves.find((one) => one.from === from && one.to === to);
    expect(move && canChangeStatus(move.from, move.to), `${from} to ${to}`).toBe(true);
  }
});

it.each([
  ['execution', 'Status of a visit', VISIT_STATUSES],
  ['execution', 'Code', FAILURE_CODES],
  ['campaign', '`pausedReason`', PAUSED_REASONS],
])('the page of %s lists in "%s" exactly the values of the code', (concept, heading, words) => {
  expect(listFirstCells(concept, heading)).toEqual([...words]);
});

it('the page of consent lists each reason of a suppression', () => {
  const [, list = ''] = read('consent').split('## The suppression list');
  expect(SUPPRESSION_REASONS.filter((reason) => !list.includes(`| \`${reason}\` |`))).toEqual([]);
});
