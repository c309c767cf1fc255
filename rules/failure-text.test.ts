import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { AppError } from './errors.ts';
import { describeFailure, readStackFrames, redact } from './failure-text.ts';

describe('redact removes addresses, keys and passwords', () => {
  it.each([
    ['duplicate key (ada.lovelace+x@mail.example.com)', 'duplicate key ([address])'],
    ['bad key sk_live_0123456789abcdef', 'bad key sk_[redacted]'],
    ['connect postgres://user:secret@db.internal:5432/x', 'connect postgres://[redacted]@db.internal:5432/x'],
    ['to +4915112345678 failed', 'to [phone] failed'],
    ['relation "contacts" does not exist', 'relation "contacts" does not exist'],
  ])('in %s', (text, shown) => {
    expect(redact(text)).toBe(shown);
  });
});

describe('describeFailure shows what failed, without what the error quotes', () => {
  const createErrorWith = (fields: object, message = 'about Ada Lovelace') => Object.assign(new Error(message), fields);
  const createPostgresError = (code: string, message: string, where = {}) =>
    createErrorWith({ severity: 'ERROR', code, ...where }, message);

  it.each([
    [
      'a JSON that does not parse',
      catchError(() => JSON.parse('Ada "Lovelace" x')),
      /^SyntaxError: Unexpected token '…'/,
    ],
    ['a refused value', createPostgresError('22P02', 'invalid input syntax for type uuid: "Ada"'), 'Postgres 22P02'],
    [
      'a constraint',
      createPostgresError('23505', 'duplicate key Ada', {
        table: 'contacts',
        constraint: 'contacts_email',
        detail: '(Ada)',
      }),
      'Postgres 23505 (contacts, contacts_email)',
    ],
    [
      'a missing table',
      createPostgresError('42P01', 'relation "x" does not exist'),
      'Postgres 42P01: relation "…" does not exist',
    ],
    [
      'a host',
      createErrorWith({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }, 'ENOTFOUND ada.example'),
      'ENOTFOUND getaddrinfo',
    ],
    ['a certificate', createErrorWith({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['an invalid input', z.string().max(1).safeParse('Ada').error, 'ZodError'],
    ['an error of the API', new AppError('NOT_FOUND', { message: 'Ada is there' }), 'AppError NOT_FOUND'],
    [
      'a cause',
      new Error('the page failed', { cause: createErrorWith({ code: 'ECONNRESET' }) }),
      'the page failed: ECONNRESET',
    ],
    ['a text over several lines', new Error('no room\nfor Ada'), 'no room'],
    ['a bug', new TypeError("Cannot read properties of undefined (reading 'ada')"), /reading '…'\)$/],
    ['no error at all', 'sent to ada@example.com', 'sent to [address]'],
  ])('of %s', (_name, error, shown) => {
    const text = describeFailure(error);
    expect(text).toMatch(shown);
    expect(text).not.toMatch(/ada\b|lovelace/i);
  });

  it('the frames of a stack do not contain the message', () => {
    const frames = readStackFrames(new Error('for Ada\n    at home (ada)'));
    expect(frames).toMatch(/^\s+at .*failure-text\.test\.ts:\d+:\d+/);
    expect(frames).not.toMatch(/ada\b/i);
  });
});

function catchError(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
