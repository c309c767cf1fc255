import { expect, it } from 'vitest';
import { formatReadyLines, type ReadyService } from './ready.ts';

const LOCAL: ReadyService = {
  baseUrl: 'http://127.0.0.1:3000',
  signInLink: 'http://127.0.0.1:3000/auth/link/abc',
  signInMinutes: 15,
  hasDashboard: true,
  mailboxUrl: 'http://127.0.0.1:3000/mailbox',
  temporalUi: 'http://127.0.0.1:8233',
  relay: undefined,
  inbound: undefined,
  firstEmail: { secretKey: 'sk_live_x', from: 'hello@tidings.test' },
  devFile: '.tidings/dev.json',
  openPorts: undefined,
};

it('prints a short block with addresses and one command at the end of a start', () => {
  expect(formatReadyLines(LOCAL)).toEqual([
    'Tidings is ready at http://127.0.0.1:3000',
    '',
    '  Dashboard    http://127.0.0.1:3000/auth/link/abc  (signs you in once, within 15 minutes)',
    '  Mailbox      http://127.0.0.1:3000/mailbox',
    '  API          http://127.0.0.1:3000/docs',
    '  Temporal UI  http://127.0.0.1:8233',
    '',
    '  Send a first email:',
    '    curl -s http://127.0.0.1:3000/v1/send \\',
    "      -H 'Authorization: Bearer sk_live_x' \\",
    "      -H 'Content-Type: application/json' \\",
    '      -d \'{"to":"you@example.com","from":"hello@tidings.test","subject":"Hello","body":"<p>A first email.</p>"}\'',
  ]);
});

it('prints the open ports and no key if other machines can reach the service', () => {
  const openPorts = [{ what: 'API', address: 'http://0.0.0.0:3000', who: 'any machine' }];
  const lines = formatReadyLines({ ...LOCAL, signInLink: undefined, firstEmail: undefined, openPorts });
  expect(lines).toContain('  Dashboard    http://127.0.0.1:3000/app');
  expect(lines.slice(-4)).toEqual([
    "  The keys and the owner's password are in .tidings/dev.json.",
    '',
    '  Open ports:',
    '    API  http://0.0.0.0:3000  any machine',
  ]);
  expect(lines.join('\n')).not.toContain('sk_live');
});
