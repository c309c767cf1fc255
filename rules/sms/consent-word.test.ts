import { expect, it } from 'vitest';
import { consentWord } from './consent-word.ts';

it.each([
  'STOP',
  ' stop ',
  'Stop.',
  'Stop. Thank you',
  'STOP !',
  '“Stop”',
  '"stop"',
  "'STOP'",
  'OPT-OUT',
  'opt out',
  'OptOut',
  'ARRET',
  'Arrêt',
  'stop 🛑',
  '🛑 stop',
  'STOPALL',
  'stop all',
  'Unsubscribe',
  'CANCEL',
  'cancel please',
  'End',
  'QUIT',
  'revoke',
  'please stop',
  'Stop please!',
  'STOP STOP STOP',
  'No. Stop!',
  'stop\nsent from my phone',
  'Stop texting me',
  'stop sending me messages',
  'Unsubscribe me from this list',
  'remove me',
  'ABMELDEN',
  'Bitte stopp',
  'BAJA',
  'СТОП',
  '退订',
  'ＳＴＯＰ',
  'stop, thanks',
  'st\u00f6pp'.replace('\u00f6', 'o'),
])('%s takes consent back', (text) => {
  expect(consentWord(text)).toBe('stop');
});

it.each(['START', 'start!', 'Unstop', 'YES', 'yes please', '“Start”', 'Subscribe'])('%s gives consent', (text) => {
  expect(consentWord(text)).toBe('start');
});

it.each([
  'please stop by at eight',
  'cancel my order 4711',
  'Cancel. My order is 4711',
  'the end',
  'Where is the bus stop?',
  "don't stop the delivery",
  'I want to quit my job',
  'yes, at eight',
  'Yes. Call me',
  'start tomorrow',
  'end of the month',
  'help',
  '',
  '👍',
  'thank you',
  'non-stop',
  'STOP2',
  'can you stop at the shop',
  'un arret de bus',
  'alto y claro',
])('"%s" says nothing about consent', (text) => {
  expect(consentWord(text)).toBeUndefined();
});
