import { describe, expect, it } from 'vitest';
import { markTrusted, markUntrusted, markUntrustedIf } from '../provenance/provenance.ts';
import { buildVariables as build, type VariableSources } from './variables.ts';

const buildVariables = (sources: Omit<VariableSources, 'zone'>) => build({ ...sources, zone: 'Europe/Berlin' });

const data = { plan: 'free', city: 'Gent' };
const contact = { id: 'c1', email: 'ada@example.com', data: markTrusted(data) };
const urls = { unsubscribeUrl: 'u', subscribeUrl: 's', manageUrl: 'm' };

describe('the variables of a template', () => {
  it('are the contact, its data at the top and under `data`, and the links', () => {
    expect(buildVariables({ contact, urls }).values).toEqual({
      ...urls,
      id: 'c1',
      email: 'ada@example.com',
      plan: 'free',
      city: 'Gent',
      data,
      __zone: 'Europe/Berlin',
    });
  });

  it('from the request override the contact data', () => {
    const variables = buildVariables({ contact, data: markTrusted({ plan: 'pro', code: 7 }) });
    expect(variables.values).toMatchObject({ plan: 'pro', code: 7, data: { plan: 'pro', code: 7, city: 'Gent' } });
  });

  it('include the keys of an execution and the payload of its event', () => {
    const variables = buildVariables({
      contact,
      event: markTrusted({ total: 3 }),
      context: markTrusted({ plan: 'trial' }),
    });
    expect(variables.values).toMatchObject({
      plan: 'trial',
      event: { total: 3 },
      context: { plan: 'trial' },
      data: { plan: 'free' },
    });
  });

  it('cannot be overridden if the service owns them', () => {
    const evil = markTrusted({
      id: 'x',
      email: 'x',
      unsubscribeUrl: 'x',
      subscribeUrl: 'x',
      manageUrl: 'x',
      data: 'x',
    });
    const variables = buildVariables({ contact: { ...contact, data: evil }, data: evil, context: evil, urls });
    expect(variables.values).toMatchObject({ ...urls, id: 'c1', email: 'ada@example.com' });
    expect(typeof variables.values.data).toBe('object');
  });

  it('are untrusted if their values are, and data of the request replaces untrusted stored data', () => {
    const stored = { ...contact, data: markUntrusted({ name: 'x', resetUrl: 'x' }, ['name', 'resetUrl', 'gone']) };
    const listUntrusted = (sources: Omit<Parameters<typeof buildVariables>[0], 'contact'>) =>
      [...buildVariables({ contact: stored, ...sources }).untrusted].sort();
    expect(listUntrusted({})).toEqual(['name', 'resetUrl']);
    expect(listUntrusted({ data: markTrusted({ resetUrl: 'https://shop.example/reset' }) })).toEqual(['name']);
    expect(listUntrusted({ data: markUntrusted({ event: {} }, ['event']) })).toEqual(['event', 'name', 'resetUrl']);
    expect(listUntrusted({ event: markUntrustedIf({ a: 1 }, true) })).toEqual(['event', 'name', 'resetUrl']);
    expect(listUntrusted({ event: markUntrustedIf({ a: 1 }, false) })).toEqual(['name', 'resetUrl']);
  });

  it('stay trusted in an event, even if an untrusted caller stored a key with that name', () => {
    const stored = { ...contact, data: markUntrusted({ event: { url: 'https://evil.example/' } }, ['event']) };
    const { values, untrusted } = buildVariables({
      contact: stored,
      event: markTrusted({ url: 'https://shop.example/' }),
    });
    expect(values).toMatchObject({ event: { url: 'https://shop.example/' }, data: {} });
    expect(values.data).toEqual({});
    expect([...untrusted]).toEqual([]);
  });
});
