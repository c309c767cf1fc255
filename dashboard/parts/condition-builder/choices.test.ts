import { describe, expect, it } from 'vitest';
import {
  createTypedChoices,
  findFieldChoice,
  getChoiceKey,
  listEventFieldChoices,
  listFieldChoices,
} from './choices.ts';

const SEGMENT = '0190a000-0000-7000-8000-000000000001';
const choices = listFieldChoices({
  contactFields: [
    { field: 'email', type: 'string' },
    { field: 'data.age', type: 'number' },
    { field: 'data.tags', type: 'array' },
  ],
  eventNames: ['purchase', 'amount'],
  segments: [{ id: SEGMENT, name: 'Gold' }],
  topics: [],
  eventFields: [{ field: 'event.amount', type: 'number' }],
});

describe('the fields to choose from', () => {
  it('have a readable name, and the type of their values', () => {
    expect(choices).toContainEqual({ field: 'data.age', kind: 'data', label: 'age', type: 'number' });
    expect(choices).toContainEqual({ field: `segment.${SEGMENT}`, kind: 'segment', label: 'Gold' });
    expect(choices.find(({ field }) => field === 'data.tags')?.type).toBeUndefined();
    expect(new Set(choices.map(getChoiceKey)).size).toBe(choices.length);
  });

  it('in a step, distinguish an event from a key of its data by the operator', () => {
    const field = 'event.amount';
    expect(findFieldChoice({ field, operator: 'equals' }, choices, 'step')).toMatchObject({ kind: 'payload' });
    expect(findFieldChoice({ field, operator: 'triggered' }, choices, 'step')).toMatchObject({ kind: 'event' });
  });

  it('show a stored value that no list has', () => {
    expect(findFieldChoice({ field: 'data.a.b', operator: 'equals' }, choices, 'audience')).toMatchObject({
      label: 'a.b',
    });
    expect(findFieldChoice({ field: 'contact.data.age', operator: 'equals' }, choices, 'audience')?.label).toBe('age');
    expect(findFieldChoice({ field: '', operator: 'equals' }, choices, 'audience')).toBeUndefined();
  });
});

describe('a typed field name', () => {
  it('is a path in the data if it is not a complete name', () => {
    expect(createTypedChoices('address.city', 'audience')).toMatchObject([
      { field: 'data.address.city', kind: 'data' },
    ]);
    expect(createTypedChoices('data.address.city', 'audience')).toMatchObject([{ field: 'data.address.city' }]);
    expect(createTypedChoices('event.signed-up', 'audience')).toMatchObject([{ kind: 'event' }]);
    expect(createTypedChoices('event.signed-up', 'step').map(({ kind }) => kind)).toEqual(['payload', 'event']);
    expect(createTypedChoices('two words', 'audience')).toEqual([]);
  });
});

describe('the fields of an awaited event', () => {
  const ofEvent = listEventFieldChoices([{ path: 'cart.total', type: 'number', values: ['40'] }]);

  it('are the fields of its data alone, with or without `event.` before them', () => {
    const field = 'event.cart.total';
    expect(ofEvent).toEqual([{ field, kind: 'payload', label: 'cart.total', type: 'number', values: ['40'] }]);
    for (const name of [field, 'cart.total']) {
      expect(findFieldChoice({ field: name, operator: 'equals' }, ofEvent, 'wait')).toBe(ofEvent[0]);
    }
    expect(findFieldChoice({ field: 'contact.plan', operator: 'equals' }, ofEvent, 'wait')?.label).toBe('contact.plan');
    expect(createTypedChoices('email', 'wait')).toEqual([{ field: 'event.email', kind: 'payload', label: 'email' }]);
    expect(createTypedChoices('a..b', 'wait')).toEqual([]);
  });
});
