import { isIP } from 'node:net';
import { parseArgs } from 'node:util';
import { ConfigError } from '../domain/config.ts';
import { port25Check, reverseNameCheck } from './doctor-delivery.ts';
import { senderDomainsCheck } from './doctor-domains.ts';
import { captureCheck, publicHostCheck, secretKeyCheck } from './doctor-exposure.ts';
import { clockCheck, diskCheck } from './doctor-machine.ts';
import { postgresCheck } from './doctor-postgres.ts';
import { mailServerCheck } from './doctor-relay.ts';
import { examine, fail, type Report, reportOf } from './doctor-report.ts';
import { openSubject } from './doctor-subject.ts';
import { temporalCheck } from './doctor-temporal.ts';
import { tlsCheck } from './doctor-tls.ts';
import { explain } from './service-process.ts';
import { StartError } from './start-error.ts';

const CHECKS = [
  ...[secretKeyCheck, publicHostCheck, captureCheck, tlsCheck],
  ...[mailServerCheck, senderDomainsCheck, reverseNameCheck, port25Check],
  ...[postgresCheck, temporalCheck, clockCheck, diskCheck],
];

// `npm run doctor`: looks at the configuration of this environment before it meets the world. Changes nothing, sends nothing.
try {
  const { lines, exitCode } = await diagnose();
  for (const line of lines) console.log(line);
  process.exitCode = exitCode;
} catch (error) {
  console.error(explain(error));
  process.exitCode = 2;
}
// What did not answer in time is not waited for.
process.exit();

async function diagnose(): Promise<Report> {
  const address = givenAddress();
  try {
    const subject = openSubject(process.env, address);
    return await examine(subject, CHECKS).finally(() => subject.close());
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const finding = fail(error.message, `set ${error.variable}: docs/configuration.md lists every variable`);
    return reportOf([{ name: 'settings', finding }]);
  }
}

function givenAddress(): string | undefined {
  const { values } = parseArgs({ options: { address: { type: 'string' } }, strict: false });
  const { address } = values;
  if (address === undefined || (typeof address === 'string' && isIP(address))) return address;
  throw new StartError('--address takes the IP address that mail leaves from as the world sees it.');
}
