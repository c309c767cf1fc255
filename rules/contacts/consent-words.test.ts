import { expect, it } from 'vitest';
import { isRefusal, readConsent } from './consent-words.ts';

it.each(
  'Y yes TRUE t 1 on X Subscribed active ja JA oui Sí si да WAHR vrai verdadero sim はい tak'
    .split(' ')
    .concat([
      'opted in',
      'Opted-In',
      'OPT_IN',
      ' yes ',
      '✓',
      '✔️',
      'Abonné',
      'abonnée',
      'double opt-in',
      '"yes"',
      'Yes.',
    ]),
)('reads %s as consent', (word) => {
  expect(readConsent(word)).toBe(true);
});

it.each(
  'N no False f 0 OFF unsubscribed inactive nein non não нет FALSCH faux nee nej cleaned'
    .split(' ')
    .concat([
      'opted out',
      'Opt-Out',
      'non-subscribed',
      'Not subscribed',
      'Désabonné',
      'désinscrite',
      '✗',
      'NEVER_SUBSCRIBED',
      'Not opted in',
      'Nicht abonniert',
      'no suscrito',
      'नहीं',
    ]),
)('reads %s as a refusal', (word) => {
  expect(readConsent(word)).toBe(false);
});

it.each([
  'maybe',
  'pending',
  '2',
  '10',
  '1.0',
  'n/a',
  'null',
  '-',
  '',
  'yes please',
  'not yes',
  'o',
  '?',
  '-1',
  '+1',
  '(1)',
  'yes?',
  'No?',
])('does not guess what "%s" means', (word) => {
  expect(readConsent(word)).toBeUndefined();
});

it('has no word on both lists', () => {
  // A word that is in both lists would be read as consent.
  for (const word of ['no', 'non', 'ne', 'ei', 'nu', 'da', 'ano', 'si', 's', 'x'])
    expect(readConsent(word)).toBeDefined();
  expect(['no', 'non', 'ne', 'ei', 'nu'].map(readConsent)).toEqual([false, false, false, false, false]);
});

it.each(['yes', '1', 'TRUE', '2024-01-02 10:11', 'SPAM', 'unsubscribed', 'x'])(
  'reads %s as a value of a refusal',
  (cell) => {
    expect(isRefusal(cell)).toBe(true);
  },
);

it.each(['', ' ', 'no', '0', 'False', 'nein', '-', 'n/a', '[]', 'never', '☐', '0000-00-00 00:00:00'])(
  'reads "%s" as no refusal',
  (cell) => {
    expect(isRefusal(cell)).toBe(false);
  },
);
