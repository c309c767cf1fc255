import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildContactUrls,
  createContactToken,
  createLinkTokens,
  createMessageId,
  LINK_TOKEN_CHARS,
  parseMessageId,
  verifyManageToken,
  verifyTrackToken,
} from './link-tokens.ts';

const key = 'a secret of this deployment';
const id = '0199a6f0-1234-7abc-8def-0123456789ab';

describe('tokens of a message', () => {
  it('identify the message, and each token works only for its purpose', () => {
    const { track, manage } = createLinkTokens(key, id);
    expect([track.length, manage.length]).toEqual([LINK_TOKEN_CHARS, LINK_TOKEN_CHARS]);
    expect(verifyTrackToken(key, track)).toBe(id);
    expect(verifyManageToken(key, manage)).toEqual({ kind: 'email', id });
    expect(verifyManageToken(key, track)).toBeUndefined();
    expect(verifyTrackToken(key, manage)).toBeUndefined();
  });

  it('are always the same, and different with another secret', () => {
    expect(createLinkTokens(key, id)).toEqual(createLinkTokens(key, id));
    const other = createLinkTokens('another', id);
    expect(verifyTrackToken(key, other.track)).toBeUndefined();
    expect(verifyManageToken(key, other.manage)).toBeUndefined();
  });

  it('are refused with any character changed, and in any other spelling', () => {
    const { track, manage } = createLinkTokens(key, id);
    const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    fc.assert(
      fc.property(fc.nat(LINK_TOKEN_CHARS - 1), fc.constantFrom(...base64url), (at, char) => {
        fc.pre(track[at] !== char && manage[at] !== char);
        const replaceCharacter = (token: string) => token.slice(0, at) + char + token.slice(at + 1);
        expect(verifyTrackToken(key, replaceCharacter(track))).toBeUndefined();
        expect(verifyManageToken(key, replaceCharacter(manage))).toBeUndefined();
      }),
    );
  });

  it.each(['', 'x', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}=`, `${'A'.repeat(42)}\n`])(
    '%j is not a token',
    (token) => {
      expect(verifyTrackToken(key, token)).toBeUndefined();
      expect(verifyManageToken(key, token)).toBeUndefined();
    },
  );
});

it.each(['.', ')_', '_', '--', '_)', '-\n'])(
  'a token is read although the email client appended %j to the link',
  (text) => {
    const { track, manage } = createLinkTokens(key, id);
    expect(verifyTrackToken(key, track + text)).toBe(id);
    expect(verifyManageToken(key, manage + text)).toEqual({ kind: 'email', id });
    expect(verifyManageToken(key, `${manage}_a`)).toBeUndefined();
  },
);

describe('tokens of a contact', () => {
  it('identify the contact, never an email with the same id', () => {
    const token = createContactToken(key, id);
    expect(verifyManageToken(key, token)).toEqual({ kind: 'contact', id });
    expect(token).not.toBe(createLinkTokens(key, id).manage);
    expect(verifyTrackToken(key, token)).toBeUndefined();
  });

  it('are in the three links of an email', () => {
    expect(buildContactUrls('https://m.example', 'T')).toEqual({
      unsubscribeUrl: 'https://m.example/u/T',
      subscribeUrl: 'https://m.example/s/T',
      manageUrl: 'https://m.example/m/T',
    });
  });
});

describe('Message-ID', () => {
  it('contains the email id', () => {
    expect(createMessageId(id, 'example.com')).toBe(`<${id}@example.com>`);
    expect(parseMessageId(createMessageId(id, 'example.com'))).toBe(id);
    expect(parseMessageId('<CAF=abc@mail.gmail.com>')).toBeUndefined();
  });
});
