import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readThreadCpuMs } from '../time-limit.ts';
import { classifyRefusal, cutAfterReplyCodes, isSessionStage, parseDiagnostic, type RefusalStage } from './refusal.ts';

const classify = (line: string, stage: RefusalStage = 'rcpt') => classifyRefusal({ ...parseDiagnostic(line), stage });

describe('the corpus of replies', () => {
  const lines = readFileSync(new URL('../../test/data/refusals.tsv', import.meta.url), 'utf8').split('\n');
  const replies = lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('\t') as [expected: string, stage: RefusalStage, reply: string]);

  it('has at least 200 replies, and many of each kind', () => {
    expect(replies.length).toBeGreaterThanOrEqual(200);
    for (const about of ['us', 'message', 'recipient'])
      expect(replies.filter(([expected]) => expected.startsWith(about)).length).toBeGreaterThanOrEqual(30);
  });

  it.each(replies)('classifies as %s, at %s: %s', (expected, stage, reply) => {
    const refusal = classify(reply, stage);
    expect('why' in refusal ? `${refusal.about} ${refusal.why}` : refusal.about).toBe(expected);
  });

  it('a reply before RCPT never means a dead mailbox', () => {
    for (const [, stage, reply] of replies)
      if (isSessionStage(stage) || stage === 'mail') expect(classify(reply, stage).about).not.toBe('recipient');
  });
});

describe('a refusal', () => {
  it('with a code of a dead mailbox is a Permanent bounce, whatever the text', () => {
    expect(classify('550 5.1.1 rejected by policy')).toEqual({
      about: 'recipient',
      why: 'dead_mailbox',
      bounceType: 'Permanent',
      retry: false,
    });
  });

  it('by policy is never about the recipient, whatever its text', () => {
    expect(classify('550 5.7.1 User unknown')).toEqual({ about: 'us', why: 'policy', retry: false });
  });

  it('about the login, the sender or the account of the service is retried', () => {
    expect(classify('535 5.7.8 Bad credentials', 'auth')).toMatchObject({ about: 'us', retry: true });
    expect(classify('530 5.7.0 Authentication required', 'mail')).toMatchObject({ about: 'us', retry: true });
    expect(classify('554 5.7.1 <a@b.c>: Sender address rejected: no', 'mail')).toMatchObject({
      about: 'us',
      retry: true,
    });
    expect(classify('550 5.7.1 Your account is suspended')).toMatchObject({ about: 'us', retry: true });
  });

  it('about a full mailbox is retried, and is Transient', () => {
    expect(classify('552 5.2.2 Mailbox full')).toMatchObject({ bounceType: 'Transient', retry: true });
  });

  it('with a 4xx is retried at any command, whatever its text', () => {
    for (const stage of ['mail', 'rcpt', 'data', 'message'] as const)
      for (const words of ['4.1.1 User unknown', '4.7.1 Spam', '4.3.4 Message too big', 'Later'])
        expect(classify(`450 ${words}`, stage)).toMatchObject({ retry: true });
  });

  it('in a notification is never retried: another server has given up', () => {
    for (const line of ['4.2.2', '4.4.1', '4.7.1', '5.7.1', '5.1.1', '5.3.4', '530 5.7.1 Login', '5.1.8', '5.0.0'])
      expect(classify(line, 'dsn')).toMatchObject({ retry: false });
  });

  it('at MAIL is never about a recipient, because none was named', () => {
    expect(classify('550 5.1.1 Unknown user', 'mail')).toMatchObject({ about: 'us' });
  });

  it('in a hostile text of a megabyte is classified quickly', () => {
    const startedAt = readThreadCpuMs();
    const words = ['header ', 'user ', 'message ', '<', 'a@', ' ', 'mailbox.', 'account ', 'exceeded ', 'your domain '];
    words.push('konto', 'adresse ', '收件人', 'пользователь', 'nicht');
    for (const word of words) {
      classifyRefusal({ code: 550, enhanced: null, text: word.repeat(150_000), stage: 'dsn' });
    }
    expect(readThreadCpuMs() - startedAt).toBeLessThan(1000);
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
  ])('parses a diagnostic: %s', (line, parts) => {
    expect(parseDiagnostic(line)).toEqual(parts);
  });
});

describe('cutAfterReplyCodes', () => {
  it.each([
    ['the server ended the session: 421 4.3.2 Ms Doe', 'the server ended the session: 421 4.3.2'],
    ['the server sent an unexpected reply: 250 Ms Doe', 'the server sent an unexpected reply: 250'],
    ['the replies do not match the commands: 354 Ms Doe', 'the replies do not match the commands: 354'],
    ['timeout: no reply to DATA', 'timeout: no reply to DATA'],
  ])('cuts the words of a reply: %s', (text, kept) => {
    expect(cutAfterReplyCodes(text)).toBe(kept);
  });
});
