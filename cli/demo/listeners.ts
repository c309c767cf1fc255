import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, parseSettings } from '../../rules/config.ts';
import { startChild } from '../start/child.ts';
import type { DevFile } from '../start/dev-file.ts';
import { StartError } from '../start/error.ts';
import { type Home, openHome, readOrCreateSecret } from '../start/home.ts';
import { findFreePort } from '../start/ports.ts';

/** The mail listeners of a service on 127.0.0.1. */
export interface MailListeners {
  readonly inboundPort: number;
  readonly relayPort: number;
  close(): Promise<void>;
}

/**
 * Starts the listeners for inbound email and for the relay, which a service of `npm start` does not have by default.
 * They run in an additional API process, which uses the database and the Temporal of the service whose home
 * is TIDINGS_HOME. The additional process ends when this process ends.
 * @throws StartError with a one-line message if the process cannot be started
 */
export async function startListenerProcess(p: {
  env: Environment;
  dev: DevFile;
  writeLine: (line: string) => void;
}): Promise<MailListeners> {
  const { env, dev, writeLine } = p;
  const home = openHome(parseSettings(env).home);
  const [inboundPort, relayPort] = [await findFreePort(), await findFreePort()];
  const listeners = await startChild({
    name: 'mail listeners',
    command: 'api',
    home,
    logFile: join(home.logs, 'demo-listeners.log'),
    writeLine,
    env: {
      ...env,
      HOST: '127.0.0.1',
      PORT: '0',
      PUBLIC_URL: env.PUBLIC_URL || dev.baseUrl,
      METRICS_PORT: 'off',
      DATABASE_URL: dev.databaseUrl,
      SECRET_KEY: readSecretKey(env, home),
      TEMPORAL_ADDRESS: dev.temporal.address,
      TEMPORAL_NAMESPACE: dev.temporal.namespace,
      INBOUND_SMTP_PORT: String(inboundPort),
      SMTP_RELAY_PORT: String(relayPort),
    },
  });
  return { inboundPort, relayPort, close: () => listeners.stop() };
}

/**
 * Returns the secret key of the running service. Return paths are signed with this key, so with another key the
 * listener would not accept them.
 */
function readSecretKey(env: Environment, home: Home): string {
  const { secretKey } = parseSettings(env);
  if (secretKey !== undefined) return secretKey;
  if (existsSync(join(home.folder, 'secret-key'))) return readOrCreateSecret(home, 'secret-key');
  throw new StartError('The running service has its SECRET_KEY from its environment: set it here too.');
}
