import { describe, expect, it } from 'vitest';
import { choiceKey, choiceOf, choicesOf, eventChoicesOf, typedChoices } from './choices.ts';

const SEGMENT = '0190a000-0000-7000-8000-000000000001';
const choices = choicesOf({
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
    expect(new Set(choices.map(choiceKey)).size).toBe(choices.length);
  });

  it('in a step, distinguish an event from a key of its data by the operator', () => {
    const field = 'event.amount';
    expect(choiceOf({ field, operator: 'equals' }, choices, 'step')).toMatchObject({ kind: 'payload' });
    expect(choiceOf({ field, operator: 'triggered' }, choices, 'step')).toMatchObject({ kind: 'event' });
  });

  it('show a stored value that no list has', () => {
    expect(choiceOf({ field: 'data.a.b', operator: 'equals' }, choices, 'audience')).toMatchObject({ label: 'a.b' });
    expect(choiceOf({ field: 'contact.data.age', operator: 'equals' }, choices, 'audience')?.label).toBe('age');
    expect(choiceOf({ field: '', operator: 'equals' }, choices, 'audience')).toBeUndefined();
  });
});

describe('a typed field name', () => {
  it('is a path in the data if it is not a complete name', () => {
    expect(typedChoices('address.city', 'audience')).toMatchObject([{ field: 'data.address.city', kind: 'data' }]);
    expect(typedChoices('data.address.city', 'audience')).toMatchObject([{ field: 'data.address.city' }]);
    expect(typedChoices('event.signed-up', 'audience')).toMatchObject([{ kind: 'event' }]);
    expect(typedChoices('event.signed-up', 'step').map(({ kind }) => kind)).toEqual(['payload', 'event']);
    expect(typedChoices('two words', 'audience')).toEqual([]);
  });
});

describe('the fields of an awaited event', () => {
  const ofEvent = eventChoicesOf([{ path: 'cart.total', type: 'number', values: ['40'] }]);

  it('are the fields of its data alone, with or without `event.` before them', () => {
    const field = 'event.cart.total';
    expect(ofEvent).toEqual([{ field, kind: 'payload', label: 'cart.total', type: 'number', values: ['40'] }]);
    for (const name of [field, 'cart.total']) {
      expect(choiceOf({ field: name, operator: 'equals' }, ofEvent, 'wait')).toBe(ofEvent[0]);
    }
    expect(choiceOf({ field: 'contact.plan', operator: 'equals' }, ofEvent, 'wait')?.label).toBe('contact.plan');
    expect(typedChoices('email', 'wait')).toEqual([{ field: 'event.email', kind: 'payload', label: 'email' }]);
    expect(typedChoices('a..b', 'wait')).toEqual([]);
  });
});
