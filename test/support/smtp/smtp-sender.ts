import { writeSync } from 'node:fs';
import { SmtpPool } from '../../../channels/email/smtp/pool.ts';

/**
 * Sends messages endlessly over `connections` connections to `url`. Writes each recipient to stdout after the server's
 * reply. Tests kill this program.
 */
const [url = '', connections = '1'] = process.argv.slice(2);
const STDOUT = 1;
const pool = new SmtpPool({ url, connections: Number(connections) });
let n = 0;

function submitNext(): void {
  const to = `to${n++}@example.org`;
  const data = `Message-ID: <${to}>\r\n\r\n${'Hello\r\n'.repeat(500)}`;
  pool.submit({ id: to, from: 'bounces@example.com', to, data }, (result) => {
    writeSync(STDOUT, `${result.outcome} ${to}\n`);
    submitNext();
  });
}

for (let i = 0; i < 200; i++) submitNext();
