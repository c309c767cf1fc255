import { describe, expect, it } from 'vitest';
import { toTypescriptCall } from './typescript-of.ts';

const ORIGIN = 'https://tidings.example.com';

describe('a request as a call of the client', () => {
  it('has the operation with its path, query and body', () => {
    const path = '/v1/contacts/0190a000-0000-7000-8000-000000000000?limit=5';
    expect(toTypescriptCall({ method: 'GET', path }, ORIGIN)).toContain(
      `tidings.call('getContact', { params: { id: '0190a000-0000-7000-8000-000000000000' }, query: { limit: '5' } });`,
    );
    const body = { email: "o'neill@example.com", data: { plan: 'pro', 'first name': 'Ada', n: 1, gone: null } };
    expect(toTypescriptCall({ method: 'POST', path: '/v1/contacts', body }, ORIGIN)).toContain(
      [
        `tidings.call('saveContact', {`,
        '  body: {',
        `    email: 'o\\'neill@example.com',`,
        `    data: { plan: 'pro', 'first name': 'Ada', n: 1, gone: null },`,
        '  },',
        '});',
      ].join('\n'),
    );
  });

  it('prefers a path without parameters, and recognizes paths of no operation', () => {
    expect(toTypescriptCall({ method: 'GET', path: '/v1/events/stats' }, ORIGIN)).toContain(`call('getEventStats')`);
    expect(toTypescriptCall({ method: 'GET', path: '/v1/nothing/at/all' }, ORIGIN)).toBeUndefined();
  });

  it('does not change text in strings', () => {
    const body = { email: `'); await steal(); ('\n\\` };
    expect(toTypescriptCall({ method: 'POST', path: '/v1/contacts', body }, ORIGIN)).toContain(
      `{ body: { email: '\\'); await steal(); (\\'\\n\\\\' } }`,
    );
  });
});
