import type { Generated } from 'kysely';
import type { InstallationChoice, SendingHold } from '../../rules/installation-tokens.ts';
import type { GeneratedTimestamp, NullableTimestamp } from './columns.ts';

/** The identity that distinguishes this installation from others on the same Temporal namespace. */
export interface InstallationTables {
  installation: InstallationTable;
  installation_tokens: InstallationTokensTable;
}

/** The migration inserts its only row. */
export interface InstallationTable {
  singleton: Generated<boolean>;
  /** A random UUID (version 4); names carry its first 8 characters. */
  id: Generated<string>;
  created_at: GeneratedTimestamp;
  /** Rows with an earlier id keep the names of the earlier release. Null if no earlier release ran. */
  legacy_before: NullableTimestamp;
  /** When the workers stopped serving the task queues of the earlier release; null until then. */
  legacy_closed_at: NullableTimestamp;
  /** Why nothing is sent: a clone waits for its operator, or a restored database for its recovery. */
  sending_hold: SendingHold | null;
  sending_held_at: NullableTimestamp;
  /** Recovery is due, for everything that happened from this instant on. Null when the recovery is done. */
  recovery_since: NullableTimestamp;
  /** The process that runs the recovery counts as alive until this instant. */
  recovery_leased_until: NullableTimestamp;
  /** The value of INSTALLATION that has resolved a mismatch. Cleared when a process starts without it. */
  resolved_by: InstallationChoice | null;
}

/** The last tokens of the installation, one a minute. Temporal keeps the newest in the workflow `installation`. */
export interface InstallationTokensTable {
  no: number;
  value: string;
  rolled_at: GeneratedTimestamp;
  /** True once Temporal has the token, too. */
  confirmed: Generated<boolean>;
  /** Identifier of the server and the database that wrote the token. Null if Postgres does not report it. */
  system_identifier: string | null;
  database_oid: number;
}
