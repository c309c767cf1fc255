import { describe, expect, it } from 'vitest';
import { readEmailSearch, readSmsSearch, toApiQuery } from './search.ts';

describe('filters of messages in the URL', () => {
  it('keep known text values, and omit all others', () => {
    const query = { to: 'a@example.com', status: 'SENT', since: '', reason: null, cursor: 'x', happened: ['sent'] };
    expect(readEmailSearch(query)).toEqual({ to: 'a@example.com', status: 'SENT' });
  });

  it('accept a phone number that parses as a number', () => {
    expect(readSmsSearch({ to: 4915112345678 })).toEqual({ to: '4915112345678' });
  });

  it("request whole days in the viewer's time zone, and exact times unchanged", () => {
    const { since, until } = toApiQuery({ since: '2026-03-01', until: '2026-03-01' });
    expect(Date.parse(until ?? '') - Date.parse(since ?? '')).toBe(86_400_000 - 1);
    expect(new Date(since ?? '').getHours()).toBe(0);
    expect(toApiQuery({ since: '2026-03-01T10:00:00Z' })).toEqual({ since: '2026-03-01T10:00:00Z' });
  });
});
