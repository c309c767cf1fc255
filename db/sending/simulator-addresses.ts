import { type RawBuilder, sql } from 'kysely';
import { SIMULATOR_DOMAIN } from '../../rules/emails/simulator.ts';

/** SQL condition that a lower-case address is a simulator address. False for NULL. */
export function isSimulatorSql(address: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`coalesce(${address} LIKE ${sql.lit(`%@${SIMULATOR_DOMAIN}`)}, false)`;
}
