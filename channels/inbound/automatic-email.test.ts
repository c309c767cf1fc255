import { expect, it } from 'vitest';
import { hasAutomaticMark } from './automatic-email.ts';

const marks = (key: string, value: string) => hasAutomaticMark([{ key, value }]);

it.each([
  ['Auto-Submitted', 'auto-replied'],
  ['auto-submitted', 'Auto-Generated; owner="x (y)"'],
  ['Auto-Submitted', '(out (of) office) auto-replied'],
  ['X-Auto-Response-Suppress', 'OOF, AutoReply'],
  ['Precedence', 'bulk'],
  ['X-Autoreply', 'yes'],
])('recognizes %s: %s as the mark of a program', (key, value) => expect(marks(key, value)).toBe(true));

it.each([
  ['Auto-Submitted', 'no'],
  ['Auto-Submitted', ' (a person) No'],
  ['Precedence', 'first-class'],
  ['X-Auto-Response-Suppress', 'None'],
  ['Subject', 'auto-replied'],
])('is not recognized by %s: %s', (key, value) => expect(marks(key, value)).toBe(false));
