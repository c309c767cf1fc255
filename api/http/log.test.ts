import { describe, expect, it } from 'vitest';
import { redact } from './log.ts';

describe('what an error says in the log', () => {
  it.each([
    ['duplicate key (ada.lovelace+x@mail.example.com)', 'duplicate key ([address])'],
    ['bad key sk_live_0123456789abcdef', 'bad key sk_[redacted]'],
    ['connect postgres://user:secret@db.internal:5432/x', 'connect postgres://[redacted]@db.internal:5432/x'],
    ['to +4915112345678 failed', 'to [phone] failed'],
    ['relation "contacts" does not exist', 'relation "contacts" does not exist'],
  ])('is without addresses, keys and passwords: %s', (said, logged) => {
    expect(redact(said)).toBe(logged);
  });
});
