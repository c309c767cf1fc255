import { expect, it } from 'vitest';
import { describeBrokenGuard, describeBrokenRefusalGuard, findMailboxProvider } from './hold-guard.ts';

const guards = { bounceGuard: 0.1, complaintGuard: 0.003 };
const createMxAnswer = (...records: [number, string][]) => ({
  kind: 'found' as const,
  records: records.map(([priority, exchange]) => ({ priority, exchange })),
});

it('puts a project on hold at 10 % hard bounces, if it has sent at least 200 emails', () => {
  expect(describeBrokenGuard({ emails: 200, dead: 20, complaints: 0 }, guards)).toBe(
    '20 of 200 emails within 24 hours were hard bounces',
  );
  expect(describeBrokenGuard({ emails: 200, dead: 19, complaints: 0 }, guards)).toBeUndefined();
  expect(describeBrokenGuard({ emails: 199, dead: 199, complaints: 0 }, guards)).toBeUndefined();
});

it('puts a project on hold at 0.3 % complaints, if it has sent at least 1,000 emails', () => {
  expect(describeBrokenGuard({ emails: 1_000, dead: 0, complaints: 3 }, guards)).toContain('reported as spam');
  expect(describeBrokenGuard({ emails: 1_000, dead: 0, complaints: 2 }, guards)).toBeUndefined();
  expect(describeBrokenGuard({ emails: 999, dead: 0, complaints: 900 }, guards)).toBeUndefined();
});

it('a share of exactly the limit counts, also if floating point is inexact', () => {
  for (let tens = 20; tens < 200; tens++)
    expect(describeBrokenGuard({ emails: tens * 10, dead: tens, complaints: 0 }, guards), `${tens}`).toBeDefined();
});

it('a project may set its own guards', () => {
  expect(
    describeBrokenGuard({ emails: 200, dead: 20, complaints: 0 }, { ...guards, bounceGuard: 0.2 }),
  ).toBeUndefined();
});

it('20 refusals by one mailbox provider are too many', () => {
  expect(describeBrokenRefusalGuard({ provider: 'google.com', refused: 19 })).toBeUndefined();
  expect(describeBrokenRefusalGuard({ provider: 'google.com', refused: 20 })).toContain('google.com refused 20');
});

it('the mailbox provider is named by the last two labels of the MX host, or by the domain itself', () => {
  expect(
    findMailboxProvider('shop.example', createMxAnswer([10, 'alt1.aspmx.l.google.com'], [1, 'aspmx.l.google.com'])),
  ).toBe('google.com');
  expect(findMailboxProvider('shop.example', createMxAnswer([10, 'mail']))).toBe('mail');
  expect(findMailboxProvider('shop.example', createMxAnswer([0, '']))).toBe('shop.example');
  expect(findMailboxProvider('shop.example', { kind: 'absent', nameExists: true })).toBe('shop.example');
  expect(findMailboxProvider('shop.example', { kind: 'fault', reason: 'x' })).toBe('shop.example');
  expect(findMailboxProvider('shop.example', createMxAnswer([0, '{{x}}<b>.test']))).toBe('??x???b?.test');
});
