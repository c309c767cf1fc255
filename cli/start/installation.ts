import { connect } from '../../db/connection.ts';
import { readSendingHold } from '../../db/installation/sending-hold.ts';
import type { Config } from '../../rules/config.ts';
import type { CheckOptions } from '../../worker/installation/check.ts';

/** The number of database connections. The check has a transaction open on one connection, and reads on the other. */
const CONNECTIONS = 2;

/**
 * Detects a clone or a restored database before any part of the service starts; see worker/installation/check.ts.
 * @throws InstallationError with a one-line message that describes the mismatch
 */
export async function requireInstallation(
  config: Pick<Config, 'database' | 'temporal' | 'publicUrl' | 'installationChoice'>,
  p: Pick<CheckOptions, 'sends' | 'notifyOperator'>,
): Promise<void> {
  // Imported here, because loading Temporal's client takes half a second, and a start that fails earlier does not need
  // the client.
  const { checkInstallation } = await import('../../worker/installation/check.ts');
  const { db } = connect({
    connectionString: config.database.url,
    max: CONNECTIONS,
    applicationName: 'tidings-start',
    onError: () => {},
  });
  try {
    await checkInstallation({ db, config, ...p });
    const hold = await readSendingHold(db);
    if (hold?.reason !== 'new') return;
    p.notifyOperator(
      `Email, SMS, webhook deliveries and WEBHOOK steps have waited since ${hold.since.toISOString()}, because this installation is a clone. ` +
        'They are sent after "npm run operator -- resume".',
    );
  } finally {
    await db.destroy();
  }
}
