import { type RawBuilder, sql } from 'kysely';
import { SIMULATOR_DOMAIN } from '../../rules/emails/simulator.ts';

/** True if a column of lower-case addresses has an address of the simulator. False for NULL. */
export function isSimulatorSql(address: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`coalesce(${address} LIKE ${sql.lit(`%@${SIMULATOR_DOMAIN}`)}, false)`;
}
