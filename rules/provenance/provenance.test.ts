import { expect, it } from 'vitest';
import { buildVariables } from '../content/variables.ts';
import { fillUpdates } from '../executions/contact-updates.ts';
import { applyContactUpdate, type SeenContact } from '../executions/run.ts';
import { listUntrustedNames, markTrusted, markUntrusted, overrideValues, type Sourced } from './provenance.ts';

const stored = markUntrusted<Record<string, unknown>>({ site: 'https://evil.example', name: 'Ada', plan: 'pro' }, [
  'site',
  'name',
]);

it('a value that replaces another keeps its own origin', () => {
  const copy = overrideValues(
    stored,
    markUntrusted<Record<string, unknown>>({ site: 'https://shop.example', note: 'x' }, ['note']),
  );
  expect(copy.values).toEqual({ site: 'https://shop.example', name: 'Ada', plan: 'pro', note: 'x' });
  expect(listUntrustedNames(copy).sort()).toEqual(['name', 'note']);
  expect(listUntrustedNames(overrideValues(markTrusted({}), markTrusted({ site: 1 })))).toEqual([]);
});

it('a copy without the names of untrusted values does not compile', () => {
  // @ts-expect-error A spread copy does not say which values are untrusted.
  const spread: Sourced = { ...stored };
  // @ts-expect-error A literal does not say which values are untrusted.
  const literal: Sourced = { values: stored.values, untrusted: new Set() };
  const contact = { id: '', email: '' };
  // @ts-expect-error Variables must say which values are untrusted.
  expect(() => buildVariables({ contact, data: { ...stored.values } })).toThrow();
  expect([spread.values, literal.values]).toEqual([stored.values, stored.values]);
});

it('a step cannot update a contact with data of unknown origin, and keeps untrusted keys', () => {
  const data = markUntrusted({ site: 'https://evil.example' }, ['site']);
  const copied = fillUpdates({ link: '{{ site | append: "/x" }}', plan: 'pro' }, data);
  const updated = applyContactUpdate(
    { subscribed: true, data },
    { data: copied, subscribed: undefined, untrustedTrigger: false },
  );
  if ('errors' in updated) throw new Error('the data is within its limits');
  expect(updated.contact.data.values).toMatchObject({ link: 'https://evil.example/x', plan: 'pro' });
  expect(listUntrustedNames(updated.contact.data).sort()).toEqual(['link', 'site']);
  // @ts-expect-error `SeenContact` does not accept data without the origin of its values.
  const bare: SeenContact = { subscribed: true, data: { ...data.values } };
  expect(bare.subscribed).toBe(true);
});
