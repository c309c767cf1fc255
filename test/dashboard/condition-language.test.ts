import { describe, expect, it } from 'vitest';
import {
  type FieldKind,
  findFieldKind,
  getOperatorInput,
  getOperators,
  OPERATORS,
  UNITS,
} from '../../dashboard/parts/condition-builder/language.ts';
import { checkFilter } from '../../rules/filters/check.ts';
import * as api from '../../rules/filters/fields.ts';
import type { Filter } from '../../rules/filters/filters.ts';

const ID = '0190a000-0000-7000-8000-000000000000';
const KINDS: FieldKind[] = [
  ...(['email', 'subscribed', 'createdAt', 'updatedAt', 'data', 'context'] as const),
  ...(['payload', 'event', 'activity', 'segment', 'topic'] as const),
];
const FIELDS = [
  ...['email', 'subscribed', 'createdAt', 'updatedAt', 'contact.email', 'contact.data.plan'],
  ...['data.plan', 'data.a.b', 'data.', 'data..a', 'context.x', 'event.purchase', 'event.email.open', 'event.'],
  ...['amount', 'a.b.c.d.e.f.g.h.i.j', 'a.b.c.d.e.f.g.h.i.j.k', 'data.a.b.c.d.e.f.g.h.i.j.k'],
  ...['email.opened', 'email.nothing', `segment.${ID}`, 'segment.x', `topic.${ID}`, 'topic.x', 'nope', ''],
];

/** Returns a value for an operator and a field of this type, in the form that the builder sends. */
function createValue(kind: FieldKind, operator: api.Operator): Pick<Filter, 'value' | 'unit'> {
  const one = kind === 'subscribed' || kind === 'topic' ? true : '2026-01-31';
  switch (getOperatorInput(operator)) {
    case 'nothing':
      return {};
    case 'span':
      return { value: 30, unit: 'days' };
    case 'list':
      return { value: [one] };
    case 'one':
      return { value: one };
  }
}

describe('the condition builder and the API agree', () => {
  it.each(KINDS)('on the operators of %s', (kind) => {
    expect([...getOperators(kind)].sort()).toEqual([...api.listOperators(kind)].sort());
  });

  it.each(['audience', 'step', 'wait'] as const)('on the type of every field in %s', (scope) => {
    for (const field of FIELDS) {
      for (const operator of api.OPERATORS) {
        expect(findFieldKind(field, operator, scope), `${field} ${operator}`).toBe(
          api.parseField(field, operator, scope)?.kind,
        );
      }
    }
  });

  it('on the input of each operator', () => {
    const fieldOf: Record<FieldKind, string> = {
      email: 'email',
      subscribed: 'subscribed',
      createdAt: 'createdAt',
      updatedAt: 'updatedAt',
      data: 'data.x',
      context: 'context.x',
      payload: 'event.x',
      event: 'event.x',
      activity: 'email.opened',
      segment: `segment.${ID}`,
      topic: `topic.${ID}`,
    };
    for (const kind of KINDS) {
      for (const operator of getOperators(kind)) {
        const filter = { field: fieldOf[kind], operator, ...createValue(kind, operator) };
        expect(checkFilter(filter, 'step'), `${filter.field} ${operator}`).toEqual([]);
      }
    }
    expect(UNITS).toEqual(api.UNITS);
    expect([...OPERATORS].sort()).toEqual([...api.OPERATORS].sort());
  });
});
