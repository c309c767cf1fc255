import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../db/connection.ts';
import { compileCondition } from '../../db/segments/filter-sql.ts';
import { loadConditionSources } from '../../db/segments/sources.ts';
import { hasExpression } from '../../rules/content/expressions.ts';
import { fillCondition } from '../../rules/executions/fill-condition.ts';
import type { SandboxState } from '../../rules/executions/run.ts';
import { type Condition, type Filter, type Group, parseCondition } from '../../rules/filters/filters.ts';
import { buildRunClause } from './run-tables.ts';
import { loadStepVariables } from './variables.ts';

/** The values that a condition is evaluated with: the contact, the variables and the time. */
export interface ConditionInput {
  projectId: string;
  contactId: string;
  config: unknown;
  event: Record<string, unknown>;
  context: Record<string, unknown>;
  untrusted: boolean;
  run: SandboxState | null;
  now: Date;
}

/** The maximum number of filters that an explanation lists. */
const EXPLAINED = 50;

/**
 * Tells whether the condition of a CONDITION step holds for a contact at an instant. The condition is evaluated with
 * the same SQL as audiences and segments.
 */
export async function isConditionMet(db: Db, p: ConditionInput): Promise<boolean> {
  const [holds] = await evaluateAll(db, p, [parseCondition(p.config, 'step')]);
  return holds ?? false;
}

/**
 * Tells for each of the first `EXPLAINED` filters of a condition whether the filter matches.
 * @param p.held whether the whole condition matches; for a condition with one filter, this is the filter's result, so
 * no query is needed
 */
export async function explainCondition(
  db: Db,
  p: ConditionInput & { held: boolean },
): Promise<(Filter & { holds: boolean })[]> {
  const all = listFilters(parseCondition(p.config, 'step'));
  const filters = all.slice(0, EXPLAINED);
  if (all.length === 1) return filters.map((filter) => ({ ...filter, holds: p.held }));
  const holds = await evaluateAll(
    db,
    p,
    filters.map((filter) => ({ logic: 'AND', groups: [{ filters: [filter] }] })),
  );
  return filters.map((filter, index) => ({ ...filter, holds: holds[index] ?? false }));
}

function listFilters({ groups }: Condition): Filter[] {
  return groups.flatMap((group: Group) => [
    ...group.filters,
    ...(group.conditions ? listFilters(group.conditions) : []),
  ]);
}

async function evaluateAll(db: Db, p: ConditionInput, conditions: Condition[]): Promise<boolean[]> {
  if (conditions.length === 0) return [];
  const filled = await fillConditions(db, p, conditions);
  const predicates: RawBuilder<boolean>[] = [];
  for (const condition of filled) {
    const { segments, zone } = await loadConditionSources(db, { projectId: p.projectId, condition });
    const { projectId, now, event, context } = p;
    predicates.push(
      compileCondition(condition, { projectId, now, segments, zone, alias: 'c', step: { event, context } }),
    );
  }
  const truths = predicates.map((predicate) => sql`(${predicate}) IS TRUE`);
  const { rows } = await sql<{ holds: boolean[] }>`
    ${buildRunClause(p, p.now)} SELECT ARRAY[${sql.join(truths)}] AS holds FROM contacts c
    WHERE c.project_id = ${p.projectId} AND c.id = ${p.contactId}
  `.execute(db);
  return rows[0]?.holds ?? [];
}

/** Replaces the variables in the filters' values with the values that the step can use. */
async function fillConditions(db: Db, p: ConditionInput, conditions: Condition[]): Promise<Condition[]> {
  if (!conditions.some(hasExpression)) return conditions;
  const { variables } = await loadStepVariables(db, p);
  return conditions.map((condition) => fillCondition(condition, variables, 'step'));
}
