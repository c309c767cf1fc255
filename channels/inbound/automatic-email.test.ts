import { expect, it } from 'vitest';
import { hasAutomaticMark, hasProgramSubject } from './automatic-email.ts';

const hasMark = (key: string, value: string) => hasAutomaticMark([{ key, value }]);

it.each([
  ['Auto-Submitted', 'auto-replied'],
  ['auto-submitted', 'Auto-Generated; owner="x (y)"'],
  ['Auto-Submitted', '(out (of) office) auto-replied'],
  ['X-Auto-Response-Suppress', 'OOF, AutoReply'],
  ['Precedence', 'bulk'],
  ['X-Autoreply', 'yes'],
  ['X-Autorespond-To', 'shop@example.com'],
  ['X-Vacation', 'yes'],
  ['X-Yandex-Autoreply', 'yes'],
  ['X-Autoreply-Domain', 'example.com'],
  ['X-Vacation-Reply', 'yes'],
  ['X-Out-Of-Office', 'yes'],
  ['X-Precedence', 'auto_reply'],
  ['Preference', 'auto_reply'],
  ['X-MS-Exchange-Inbox-Rules-Loop', 'ann@example.com'],
  ['X-POST-MessageClass', '9; Autoresponder'],
  ['Delivered-To', 'Autoresponder'],
  ['X-MS-Exchange-Generated-Message-Source', 'Mailbox Rules Agent'],
])('recognizes %s: %s as the mark of a program', (key, value) => expect(hasMark(key, value)).toBe(true));

it.each([
  ['Auto-Submitted', 'no'],
  ['Auto-Submitted', ' (a person) No'],
  ['Precedence', 'first-class'],
  ['X-Auto-Response-Suppress', 'None'],
  ['Subject', 'auto-replied'],
  ['Content-Type', 'text/calendar; method=REPLY'],
  ['Precedence', 'list'],
  ['Delivered-To', 'autoresponder@example.com'],
  ['X-POST-MessageClass', '1'],
  ['List-Id', 'Developers <dev.lists.example.org>'],
])('does not recognize %s: %s as the mark of a program', (key, value) => expect(hasMark(key, value)).toBe(false));

it.each([
  'Report Domain: example.com Submitter: google.com Report-ID: <1>',
  'Automatic reply: Your order',
  'Réponse automatique : Bonjour',
  '自动回复: Hi',
  'Automatyczna odpowiedź: Hi',
  'Automatikus válasz: Hi',
  'Răspuns automat: Hi',
  'Автоматична відповідь: Hi',
  'Αυτόματη απάντηση: Hi',
  'תשובה אוטומטית: Hi',
  '\u200fתשובה אוטומטית\u200e: Hi',
  'رد تلقائي: Hi',
  'Automatická odpoveď: Hi',
  'Trả lời tự động: Hi',
  'ตอบกลับอัตโนมัติ: Hi',
  '自動返信：Hi',
  'Automatic reply: Re: Hi'.normalize('NFD'),
  'Auto Response: Hi',
  'Out of Office: Your order',
  'Absence du bureau : Bonjour',
  '[Auto-Reply] Hi',
])('only a program writes the subject %j', (subject) => expect(hasProgramSubject(subject)).toBe(true));

it.each([
  'Re: Automatic reply: Hi',
  'Automatic reply does not work',
  'Out of office furniture',
  'Out of office',
  'Vacation: 3 to 7 May',
  'Abwesend: Frau Berg vom 3. bis 7. Mai',
  'Frånvaro: Kalle är sjuk i dag',
])('a person may write the subject %j', (subject) => expect(hasProgramSubject(subject)).toBe(false));
