import { describe, expect, it } from 'vitest';
import { markTrusted, markUntrusted } from '../provenance/provenance.ts';
import { fillUpdates, listChangedNames, toUpdateOutput } from './contact-updates.ts';

const variables = markUntrusted({ event: { city: 'Ulm', empty: '', none: null }, plan: 'pro' }, ['event']);

describe('fillUpdates', () => {
  it('omits fields whose variable is missing, empty or null', () => {
    const updates = { city: '{{event.town}}', a: '{{event.empty}}', b: '{{event.none}}', plan: '{{plan}}', c: '' };
    expect(fillUpdates(updates, variables).values).toEqual({ plan: 'pro' });
  });

  it('omits a text of missing variables with spaces between them, and a calculation without a result', () => {
    const updates = {
      name: '{{event.first}} {{event.last}}',
      ratio: '{{ 4 | divided_by: 0 }}',
      nil: '{{ x | default: nil }}',
    };
    expect(fillUpdates(updates, variables).values).toEqual({});
  });

  it('omits a text around missing variables, and a calculation with nothing but missing values of the event', () => {
    const updates = {
      city: 'In {{event.town}}',
      url: 'https://crm.example/{{event.id}}/{{ event.part | downcase }}',
      points: '{{ event.points | plus: 1 }}',
      tags: '{{ event.tags | split: "," }}',
      first: '{{ event.items[0].sku | append: "!" }}',
    };
    expect(fillUpdates(updates, variables).values).toEqual({});
  });

  it('keeps a text with one value, a fallback in a filter, and a calculation from the data of the contact', () => {
    const updates = {
      name: '{{event.first}} {{event.city}}',
      town: 'In {{ event.town | default: "Bonn" }}',
      other: 'In {{ event.town | upcase ?? "Bonn" }}',
      visits: '{{ visits | plus: 1 }}',
      now: '{{ 1 | plus: 1 }}',
    };
    const expected = { name: ' Ulm', town: 'In Bonn', other: 'In Bonn', visits: 1, now: 2 };
    expect(fillUpdates(updates, variables).values).toEqual(expected);
  });

  it('reads sizes, first and last items and names with a dot as Liquid does', () => {
    const values = { event: { items: [{ sku: 'p1' }], 'a.b': 'dot', word: 'abc' } };
    const updates = {
      first: '{{ event.items.first.sku }}',
      last: '{{ event.items.last.sku | upcase }}',
      count: '{{ event.items.size }}',
      length: '{{ event.word.size }}',
      dot: '{{ event["a.b"] }}',
      none: '{{ event.gone.size }}',
      noItem: '{{ event.items.first.gone }}',
    };
    const expected = { first: 'p1', last: 'P1', count: 1, length: 3, dot: 'dot' };
    expect(fillUpdates(updates, markTrusted(values)).values).toEqual(expected);
  });

  it('keeps fallbacks, literal values and a literal null', () => {
    const updates = { city: '{{event.town ?? Berlin}}', gone: null, n: 0, off: false };
    expect(fillUpdates(updates, variables).values).toEqual({ city: 'Berlin', gone: null, n: 0, off: false });
  });

  it('omits missing variables inside objects and lists', () => {
    const updates = { address: { city: '{{event.city}}', zip: '{{event.zip}}' }, tags: ['{{plan}}', '{{event.tag}}'] };
    expect(fillUpdates(updates, variables).values).toEqual({ address: { city: 'Ulm' }, tags: ['pro'] });
  });

  it("keeps the contact's values where a variable inside an object or a list is missing", () => {
    const data = { address: { city: 'Ulm', zip: '89073', more: { floor: 2 } }, tags: ['a'], note: 'x' };
    const contact = markUntrusted({ event: { city: 'Bonn' }, data }, ['address']);
    const updates = {
      address: { city: '{{event.city}}', zip: '{{event.zip}}', more: { floor: '{{event.floor}}' } },
      tags: ['{{event.tag}}'],
      note: { text: '{{event.note}}' },
      none: {},
      list: [],
    };
    const { values, untrusted } = fillUpdates(updates, contact);
    expect(values).toEqual({ address: { city: 'Bonn', zip: '89073', more: { floor: 2 } }, none: {}, list: [] });
    expect([...untrusted]).toEqual(['address']);
  });

  it('names the fields with untrusted values', () => {
    const { untrusted } = fillUpdates({ city: '{{event.city}}', zip: '{{event.zip}}', plan: '{{plan}}' }, variables);
    expect([...untrusted]).toEqual(['city']);
  });
});

it('listChangedNames lists only the fields that the updates really change', () => {
  const before = { city: 'Ulm', plan: 'pro', tags: ['a'] };
  expect(
    listChangedNames(before, { city: 'Ulm', plan: 'free', tags: ['a'], gone: null, email: 'x@example.com' }),
  ).toEqual(['plan']);
});

it('the output of a step names the subscription only if it changed', () => {
  const before = { data: { plan: 'free' }, subscribed: false };
  const updates = { plan: 'pro' };
  expect(toUpdateOutput(before, { updates, subscribed: true })).toEqual({ updated: ['plan'], subscribed: true });
  expect(toUpdateOutput(before, { updates: {}, subscribed: false })).toEqual({ updated: [] });
});
