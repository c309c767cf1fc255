import { isIP } from 'node:net';
import { parseArgs } from 'node:util';
import { ConfigError, type Environment } from '../../rules/config.ts';
import { StartError } from '../start/error.ts';
import { port25Check, reverseNameCheck } from './delivery.ts';
import { openDeployment } from './deployment.ts';
import { senderDomainsCheck } from './domains.ts';
import { captureCheck, publicHostCheck, secretKeyCheck } from './exposure.ts';
import { imagesCheck } from './images.ts';
import { installationCheck } from './installation.ts';
import { clockCheck, diskCheck } from './machine.ts';
import { postgresCheck } from './postgres.ts';
import { mailServerCheck } from './relay.ts';
import { type DoctorReport, failFinding, formatReport, runChecks } from './report.ts';
import { temporalCheck } from './temporal.ts';
import { tlsCheck } from './tls.ts';
import { workersCheck } from './workers.ts';

const CHECKS = [
  ...[secretKeyCheck, publicHostCheck, captureCheck, tlsCheck],
  ...[mailServerCheck, senderDomainsCheck, reverseNameCheck, port25Check],
  ...[postgresCheck, temporalCheck, installationCheck, workersCheck, imagesCheck, clockCheck, diskCheck],
];

/**
 * Checks the configuration of an environment before it is used. Changes nothing and sends nothing.
 * @throws StartError for invalid arguments
 */
export async function diagnose(env: Environment, args: readonly string[]): Promise<DoctorReport> {
  const address = readAddress(args);
  try {
    const deployment = openDeployment(env, address);
    return await runChecks(deployment, CHECKS).finally(() => deployment.close());
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const finding = failFinding(error.message, `set ${error.variable}: docs/configuration.md lists every variable`);
    return formatReport([{ name: 'settings', finding }]);
  }
}

function readAddress(args: readonly string[]): string | undefined {
  const address = readOptions(args).address;
  if (address === undefined || isIP(address)) return address;
  throw new StartError('--address takes the public IP address that sends email.');
}

function readOptions(args: readonly string[]): { address?: string | undefined } {
  try {
    return parseArgs({ args: [...args], options: { address: { type: 'string' } } }).values;
  } catch (cause) {
    throw new StartError('Usage: npm run doctor -- [--address <public IP address that sends email>]', { cause });
  }
}
