import { describe, expect, it } from 'vitest';
import { type BounceStage, classifyReply, judgeAgain, parseDiagnostic } from './bounce.ts';

describe('what follows from it', () => {
  const verdict = (line: string, stage: BounceStage = 'rcpt') => classifyReply({ ...parseDiagnostic(line), stage });

  it('a dead mailbox is suppressed and unsubscribed, and not tried again', () => {
    expect(verdict('550 5.1.1 User unknown')).toEqual({
      class: 'dead_mailbox',
      bounceType: 'Permanent',
      status: 'BOUNCED',
      retry: false,
      suppress: true,
      unsubscribe: true,
      final: true,
      deadIfAgain: false,
    });
  });

  it('a full mailbox is tried again and costs nobody their subscription', () => {
    const full = verdict('552 5.2.2 Mailbox full');
    expect(full).toMatchObject({
      bounceType: 'Transient',
      retry: true,
      final: false,
      suppress: false,
      unsubscribe: false,
    });
  });

  it("the sender's fault bounces the email without unsubscribing anyone", () => {
    const policy = verdict('554 5.7.1 blocked using zen.spamhaus.org');
    expect(policy).toMatchObject({
      bounceType: 'Permanent',
      status: 'BOUNCED',
      retry: false,
      suppress: false,
      unsubscribe: false,
    });
  });

  it("the message's fault fails the email", () => {
    expect(verdict('552 5.3.4 Message too big', 'message')).toMatchObject({
      status: 'FAILED',
      retry: false,
      suppress: false,
    });
  });

  it('unknown words are Transient the first time and a dead mailbox on the second day', () => {
    const unknown = verdict('550 I would rather not');
    const now = new Date('2026-03-02T01:00:00Z');
    expect(unknown).toMatchObject({ bounceType: 'Transient', retry: false, final: true, suppress: false });
    expect(judgeAgain(unknown, null, now)).toBe(unknown);
    expect(judgeAgain(unknown, new Date('2026-03-02T00:10:00Z'), now)).toBe(unknown);
    expect(judgeAgain(unknown, new Date('2026-03-01T23:00:00Z'), now)).toMatchObject({
      class: 'dead_mailbox',
      suppress: true,
    });
  });

  it('a full mailbox on two days stays alive', () => {
    const full = verdict('4.2.2', 'dsn');
    expect(judgeAgain(full, new Date('2026-03-01T00:00:00Z'), new Date('2026-03-02T00:00:00Z'))).toBe(full);
  });

  it('a notification is never tried again: another server has given up', () => {
    expect(verdict('4.2.2', 'dsn')).toMatchObject({
      bounceType: 'Transient',
      retry: false,
      final: true,
      suppress: false,
    });
  });

  it('a hostile text of a megabyte is judged in no time', () => {
    const startedAt = performance.now();
    for (const word of ['header ', 'user ', 'message ', '<', 'a@', ' ', 'mailbox.']) {
      classifyReply({ code: 550, enhanced: null, text: word.repeat(150_000), stage: 'dsn' });
    }
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });

  it('a refused session says nothing about the recipient', () => {
    expect(verdict('535 5.7.8 Bad credentials', 'auth')).toMatchObject({
      retry: true,
      suppress: false,
      bounceType: 'Transient',
    });
  });
});

describe('parseDiagnostic', () => {
  it.each([
    ['550 5.1.1 No', { code: 550, enhanced: '5.1.1', text: 'No' }],
    ['550-5.1.1 No', { code: 550, enhanced: '5.1.1', text: 'No' }],
    ['smtp; 550 No', { code: 550, enhanced: null, text: 'No' }],
    ['5.1.1', { code: null, enhanced: '5.1.1', text: '' }],
    ['550', { code: 550, enhanced: null, text: '' }],
    ['550 #5.1.0 Address rejected.', { code: 550, enhanced: '5.1.0', text: 'Address rejected.' }],
    ['X-Postfix; unknown user', { code: null, enhanced: null, text: 'X-Postfix; unknown user' }],
  ])('a diagnostic is parsed: %s', (line, parts) => {
    expect(parseDiagnostic(line)).toEqual(parts);
  });
});
