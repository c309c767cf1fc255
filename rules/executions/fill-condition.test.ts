import { describe, expect, it } from 'vitest';
import { evaluateCondition, matchesEventData } from '../filters/evaluate.ts';
import { parseCondition } from '../filters/filters.ts';
import { markTrusted } from '../provenance/provenance.ts';
import { fillCondition } from './fill-condition.ts';

const variables = markTrusted({ event: { id: 5, text: '5', ids: ['a', 'b'], braces: '{{event.id}}' }, plan: 'Pro' });

function matchesFilled(operator: string, value: unknown, x: unknown): boolean {
  const filled = fillCondition(parseCondition([{ field: 'event.x', operator, value }], 'wait'), variables, 'wait');
  // The filters of a wait are stored as JSON and read again.
  return matchesEventData(parseCondition(JSON.parse(JSON.stringify(filled)), 'wait'), { x }, { now: new Date() });
}

describe('fillCondition', () => {
  it.each([
    ['equals', '{{event.id}}', 5, true],
    ['equals', '{{event.id}}', '5', false],
    ['equals', '{{event.text}}', '5', true],
    ['equals', '{{ plan | upcase }}', 'PRO', true],
    ['equals', 'plan-{{event.id}}', 'plan-5', true],
    ['greaterThan', '{{ event.id | plus: 1 }}', 7, true],
    ['greaterThan', '{{ event.id | plus: 1 }}', 6, false],
    ['in', ['{{event.ids}}', 'c'], 'b', true],
    ['in', '{{event.ids}}', 'c', false],
    ['equals', '{{event.braces}}', '{{event.id}}', true],
  ])('%s %j against %j is %s', (operator, value, x, expected) => {
    expect(matchesFilled(operator, value, x)).toBe(expected);
  });

  it.each(['{{event.none}}', '{{ event.none | upcase }}'])(
    'a filter matches nothing, and a negative filter matches everything, if %s is missing',
    (value) => {
      expect(matchesFilled('equals', value, '')).toBe(false);
      expect(matchesFilled('equals', value, undefined)).toBe(false);
      expect(matchesFilled('contains', value, 'x')).toBe(false);
      expect(matchesFilled('notEquals', value, 'x')).toBe(true);
    },
  );

  it.each(['subscribed', 'topic.01890a00-0000-7000-8000-000000000000', 'email', 'createdAt', 'data.x'])(
    'a filter matches nothing, and a negative filter matches everything, if the value for %s is missing',
    (field) => {
      const world = {
        contact: { email: 'a@x.test', subscribed: true, createdAt: new Date(), updatedAt: new Date(), data: {} },
        events: [],
        emails: [],
        segmentIds: new Set<string>(),
        payload: {},
        context: {},
        now: new Date(),
      };
      const matchesMissing = (operator: string) => {
        const condition = parseCondition(
          { logic: 'AND', groups: [{ filters: [{ field, operator, value: '{{event.none}}' }] }] },
          'step',
        );
        return evaluateCondition(fillCondition(condition, variables, 'step'), world, 'step');
      };
      expect([matchesMissing('equals'), matchesMissing('notEquals')]).toEqual([false, true]);
    },
  );

  it('also fills the filters of a CONDITION step', () => {
    const fillPlanCondition = (value: string) =>
      fillCondition(
        parseCondition(
          { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value }] }] },
          'step',
        ),
        variables,
        'step',
      );
    const [filter] = fillPlanCondition('{{ plan }}').groups[0]?.filters ?? [];
    expect(filter).toEqual({ field: 'data.plan', operator: 'equals', value: 'Pro' });
  });
});
