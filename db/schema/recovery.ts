import type { Generated } from 'kysely';
import type { OutboxKind } from '../../rules/outbox.ts';
import type { GeneratedJson, GeneratedTimestamp, Json } from './columns.ts';

/** Tables that let accepted work survive a crash, and make requests safe to repeat. */
export interface RecoveryTables {
  outbox: OutboxTable;
  idempotency_keys: IdempotencyKeysTable;
  deleted_rows: DeletedRowsTable;
}

export interface OutboxTable {
  id: Generated<string>;
  project_id: string;
  kind: OutboxKind;
  ref_id: string;
  payload: GeneratedJson;
  attempts: Generated<number>;
  last_error: string | null;
  /** When the row may be claimed. For a claimed row: when its lease expires. */
  available_at: GeneratedTimestamp;
  created_at: GeneratedTimestamp;
  /** `OUTBOX_PRIORITY` of its kind. */
  priority: Generated<number>;
  /**
   * When a worker claimed the row to start its work in Temporal. Null while the row waits, and for work that workers do
   * without Temporal.
   */
  taken_at: Date | null;
}

/** The final status of records that were deleted within the last days. */
export interface DeletedRowsTable {
  id: string;
  project_id: string;
  status: string;
  reason: string | null;
  deleted_at: GeneratedTimestamp;
}

export interface IdempotencyKeysTable {
  project_id: string;
  key: string;
  public: Generated<boolean>;
  owner: string | null;
  request: string;
  /** Fingerprint of the request's parsed input. Null for keys that were stored before fingerprints existed. */
  fingerprint: string | null;
  status_code: number;
  response: Json;
  created_at: GeneratedTimestamp;
}
