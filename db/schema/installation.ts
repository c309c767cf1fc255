import type { Generated } from 'kysely';
import type { InstallationChoice, SendingHold } from '../../rules/installation-tokens.ts';
import type { GeneratedTimestamp, NullableTimestamp } from './columns.ts';

/**
 * The identity of this installation, which distinguishes it from other installations in the same Temporal namespace.
 */
export interface InstallationTables {
  installation: InstallationTable;
  installation_tokens: InstallationTokensTable;
}

/** The table's only row is inserted by the migration. */
export interface InstallationTable {
  singleton: Generated<boolean>;
  /** A random UUID (version 4). Names in Temporal contain its first 8 characters. */
  id: Generated<string>;
  created_at: GeneratedTimestamp;
  /**
   * Rows with an id before this instant keep the names of the earlier release in Temporal. Null if no earlier release
   * ran.
   */
  legacy_before: NullableTimestamp;
  /** When the workers stopped serving the task queues of the earlier release; null until then. */
  legacy_closed_at: NullableTimestamp;
  /**
   * Why nothing is sent: the database is a clone whose operator has not resumed sending, or it was restored and
   * recovery is not complete.
   */
  sending_hold: SendingHold | null;
  sending_held_at: NullableTimestamp;
  /** The instant since which everything must be recovered. Null if no recovery is requested. */
  recovery_since: NullableTimestamp;
  /** A process is running the recovery, and its lease ends at this instant. */
  recovery_leased_until: NullableTimestamp;
  /**
   * The value of the variable INSTALLATION that has resolved a mismatch. The stored value is cleared when a process
   * starts without INSTALLATION.
   */
  resolved_by: InstallationChoice | null;
}

/**
 * The newest tokens of the installation. A new token is created about every minute. Temporal stores the newest token in
 * the workflow `installation`.
 */
export interface InstallationTokensTable {
  no: number;
  value: string;
  rolled_at: GeneratedTimestamp;
  /** True after Temporal has stored the token, too. */
  confirmed: Generated<boolean>;
  /**
   * Identifiers of the server and the database that created the token. Null if Postgres does not reveal the server's.
   */
  system_identifier: string | null;
  database_oid: number;
}
