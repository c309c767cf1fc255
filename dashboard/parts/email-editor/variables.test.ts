import { describe, expect, it } from 'vitest';
import { listVariables } from './variables.ts';

const field = (name: string, coverage: number, standard = false) => ({
  field: name,
  type: 'string' as const,
  coverage,
  standard,
});

describe('the variables of an email', () => {
  it('are the fields of contacts by frequency, then the variables of the service', () => {
    const names = listVariables([field('email', 100, true), field('data.plan', 20), field('data.firstName', 90)]);
    expect(names.map(({ name }) => name).slice(0, 3)).toEqual(['firstName', 'plan', 'unsubscribeUrl']);
    expect(names[0]?.about).toBe('string, 90 % have it');
  });

  it('are written so that Liquid finds them, with any key', () => {
    const names = listVariables([field('data.first name', 9), field('data.a"b', 8)]).map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(['data["first name"]', 'data["a\\"b"]']);
  });
});
