import { type RawBuilder, sql } from 'kysely';
import { SIMULATOR_DOMAIN } from '../../rules/emails/simulator.ts';

/** Whether a column of addresses in lower case has one of the simulator; false for NULL. */
export function isSimulatorSql(address: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`coalesce(${address} LIKE ${sql.lit(`%@${SIMULATOR_DOMAIN}`)}, false)`;
}
