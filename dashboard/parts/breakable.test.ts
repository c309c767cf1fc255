import { describe, expect, it } from 'vitest';
import { splitIntoPieces } from './breakable.tsx';

describe('a long text without spaces', () => {
  it.each([
    ['ada.lovelace@example.com', ['ada.lovelace', '@example.com']],
    ['https://crm.example.com/in', ['https://', 'crm.', 'example.', 'com/', 'in']],
    ['PUT /v1/workflows/{id}/graph', ['PUT /', 'v1/', 'workflows/', '{id}/', 'graph']],
    ['contact.unsubscribed', ['contact.', 'unsubscribed']],
    ['suppressed:hard_bounce', ['suppressed:', 'hard_', 'bounce']],
    ['Autumn teas', ['Autumn teas']],
  ])('is broken where a reader would: %s', (text, pieces) => {
    expect(splitIntoPieces(text)).toEqual(pieces);
  });

  it('is not changed if it is very long', () => {
    const endless = 'a.'.repeat(5_000);
    expect(splitIntoPieces(endless)).toEqual([endless]);
  });
});
