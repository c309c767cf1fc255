import { describe, expect, it } from 'vitest';
import { queryOf, readMailSearch, readSmsSearch } from './search.ts';

describe('filters of messages in the address', () => {
  it('keep what is a text and known, and leave the rest out', () => {
    const given = { to: 'a@example.com', status: 'SENT', since: '', reason: null, cursor: 'x', happened: ['sent'] };
    expect(readMailSearch(given)).toEqual({ to: 'a@example.com', status: 'SENT' });
  });

  it('take a phone number that reads as a number', () => {
    expect(readSmsSearch({ to: 4915112345678 })).toEqual({ to: '4915112345678' });
  });

  it('ask for whole days of the viewer, and for instants as they are', () => {
    const { since, until } = queryOf({ since: '2026-03-01', until: '2026-03-01' });
    expect(Date.parse(until ?? '') - Date.parse(since ?? '')).toBe(86_400_000 - 1);
    expect(new Date(since ?? '').getHours()).toBe(0);
    expect(queryOf({ since: '2026-03-01T10:00:00Z' })).toEqual({ since: '2026-03-01T10:00:00Z' });
  });
});
