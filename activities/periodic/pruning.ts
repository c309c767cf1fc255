import { sealClearUrlSecrets } from '../../db/housekeeping/clear-url-secrets.ts';
import { listPrunings } from '../../db/housekeeping/pruning.ts';
import { backfillSmsStops } from '../../db/sms/stops.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { padHmacKey } from '../../rules/emails/suppression.ts';
import { removeLeftoverObjects } from '../asset-leftovers.ts';
import type { ActivityDeps } from '../deps.ts';
import { createNamedParts, type PeriodicParts } from './parts.ts';

/**
 * Periodic work that deletes expired rows and leftover objects, and brings rows of earlier releases up to date
 * (`sms_stops`, `clear_url_secrets`). Each table and each of the other tasks is a part.
 */
export function createPruningParts({
  config,
  db,
  bucket,
}: Pick<ActivityDeps, 'config' | 'db' | 'bucket'>): PeriodicParts {
  const tables = Object.entries(listPrunings(config.retention));
  return createNamedParts({
    ...Object.fromEntries(
      tables.map(([table, prune]) => [
        table,
        ({ cursor, mayContinue }) => prune(db, { after: cursor || null, mayContinue }),
      ]),
    ),
    asset_objects: async () => {
      await removeLeftoverObjects({ db, bucket });
      return null;
    },
    sms_stops: async () => {
      await backfillSmsStops(db, padHmacKey(deriveKey(config.secretKey, 'suppression')));
      return null;
    },
    clear_url_secrets: async () => {
      await sealClearUrlSecrets(db, config.secretKey);
      return null;
    },
  });
}
