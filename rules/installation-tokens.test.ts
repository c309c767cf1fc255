import { describe, expect, it } from 'vitest';
import {
  compareInstallationTokens,
  type DatabaseMark,
  describeMismatch,
  findLostWindow,
  type PostgresToken,
  type TemporalToken,
  type TokenState,
} from './installation-tokens.ts';

const HERE: DatabaseMark = { systemIdentifier: '7300000000000000001', oid: 16_384 };
const RESTORED_DUMP: DatabaseMark = { ...HERE, oid: 24_576 };
const OTHER_SERVER: DatabaseMark = { ...HERE, systemIdentifier: '7300000000000000002' };

const postgresToken = (no: number, changes: Partial<PostgresToken> = {}): PostgresToken => ({
  no,
  value: `value-${no}`,
  rolledAt: new Date(Date.UTC(2026, 0, 1, 12, no)).toISOString(),
  database: HERE,
  confirmed: true,
  ...changes,
});
const temporalToken = (no: number, changes: Partial<TemporalToken> = {}): TemporalToken => {
  const { confirmed: _, ...rest } = postgresToken(no);
  return { ...rest, ...changes };
};
const createTokenState = (changes: Partial<TokenState> = {}): TokenState => ({
  tokens: [postgresToken(5), postgresToken(4), postgresToken(3)],
  database: HERE,
  temporal: temporalToken(5),
  ...changes,
});

describe('the tokens of Postgres and Temporal', () => {
  it.each<[string, Partial<TokenState>]>([
    ['both have the newest token', {}],
    ['nothing has ever started', { tokens: [], temporal: null }],
    [
      'the worker was killed before it wrote the first token to Temporal',
      { tokens: [postgresToken(1, { confirmed: false })], temporal: null },
    ],
    [
      'the worker was killed before it wrote the next token to Temporal',
      { tokens: [postgresToken(6, { confirmed: false }), postgresToken(5)] },
    ],
    [
      'the worker was killed before it marked the token as confirmed',
      { tokens: [postgresToken(5, { confirmed: false }), postgresToken(4)] },
    ],
    ['Temporal does not respond, and this database wrote the newest token', { temporal: undefined }],
    ['the role may not read the identifier of the server', { database: { ...HERE, systemIdentifier: null } }],
  ])('match if %s', (_, changes) => {
    expect(compareInstallationTokens(createTokenState(changes))).toBe('agree');
  });

  it.each<[string, Partial<TokenState>]>([
    ['by one token', { temporal: temporalToken(4) }],
    ['by more tokens than Postgres keeps', { temporal: temporalToken(1) }],
    [
      'by two tokens, of which the newest was not confirmed',
      { tokens: [postgresToken(6, { confirmed: false }), postgresToken(5)], temporal: temporalToken(4) },
    ],
  ])('show that Temporal was restored, if Temporal is behind %s', (_, changes) => {
    expect(compareInstallationTokens(createTokenState(changes))).toBe('temporal-behind');
  });

  it('show that Temporal has lost its data', () => {
    expect(compareInstallationTokens(createTokenState({ temporal: null }))).toBe('temporal-empty');
  });

  it.each<[string, Partial<TokenState>]>([
    ['is older than Temporal', { temporal: temporalToken(6) }],
    ['is from before the first token', { tokens: [] }],
    ['is older, and on another server', { temporal: temporalToken(9), database: OTHER_SERVER }],
  ])('show a restored backup or a clone: the database %s', (_, changes) => {
    expect(compareInstallationTokens(createTokenState(changes))).toBe('database-behind');
  });

  it.each<[string, Partial<TokenState>]>([
    ['with an empty Temporal', { temporal: null, database: RESTORED_DUMP }],
    ['that still has the newest token', { database: RESTORED_DUMP }],
    ['on another server', { database: OTHER_SERVER }],
    ['while Temporal does not respond', { temporal: undefined, database: RESTORED_DUMP }],
    [
      'if the role may not read the identifier of the server',
      { temporal: null, database: { ...RESTORED_DUMP, systemIdentifier: null } },
    ],
    [
      'that continued with another Temporal and now uses the original one',
      {
        tokens: [postgresToken(900, { database: RESTORED_DUMP })],
        database: RESTORED_DUMP,
        temporal: temporalToken(9),
      },
    ],
  ])('show a restored dump %s', (_, changes) => {
    expect(compareInstallationTokens(createTokenState(changes))).toBe('database-foreign');
  });

  it('show two databases that continued from the same token', () => {
    expect(
      compareInstallationTokens(createTokenState({ temporal: temporalToken(5, { value: 'of the other database' }) })),
    ).toBe('diverged');
  });

  it('match again if a take-over was killed before Temporal got its token', () => {
    const adopted = postgresToken(9, { database: OTHER_SERVER });
    const tokens = [postgresToken(10, { confirmed: false, database: RESTORED_DUMP }), adopted, postgresToken(5)];
    const after = createTokenState({
      tokens,
      database: RESTORED_DUMP,
      temporal: temporalToken(9, { database: OTHER_SERVER }),
    });
    expect(compareInstallationTokens(after)).toBe('agree');
  });
});

describe('the line of a mismatch', () => {
  it('names both ways to continue, and both tokens', () => {
    const line = describeMismatch('database-behind', createTokenState({ temporal: temporalToken(9) }));
    expect(line).toContain('INSTALLATION=take-over');
    expect(line).toContain('INSTALLATION=new');
    expect(line).toContain(
      'Postgres token 5 of 2026-01-01T12:05:00.000Z, Temporal token 9 of 2026-01-01T12:09:00.000Z',
    );
    expect(line).not.toContain('\n');
  });

  it('explains that INSTALLATION resolves only one mismatch', () => {
    expect(describeMismatch('database-behind', createTokenState(), 'take-over')).toContain('start once without it');
  });
});

describe('the lost window', () => {
  const now = new Date('2026-01-01T13:00:00.000Z');

  it("lasts from the database's last token until two minutes after Temporal's last token", () => {
    expect(findLostWindow(createTokenState({ temporal: temporalToken(9) }), now)).toEqual({
      from: new Date('2026-01-01T12:05:00.000Z'),
      to: new Date('2026-01-01T12:11:00.000Z'),
    });
  });

  it('lasts until now if Temporal has no later token', () => {
    const window = { from: new Date('2026-01-01T12:05:00.000Z'), to: now };
    expect(findLostWindow(createTokenState({ temporal: null }), now)).toEqual(window);
    expect(findLostWindow(createTokenState({ temporal: temporalToken(3) }), now)).toEqual(window);
  });
});
