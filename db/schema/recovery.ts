import type { Generated } from 'kysely';
import type { OutboxKind } from '../../rules/outbox.ts';
import type { GeneratedJson, GeneratedTimestamp, Json } from './columns.ts';

/** What makes accepted work survive a crash, and a request safe to repeat. */
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
  /** When the row may be taken; of a row that is taken, when it is given up for lost. */
  available_at: GeneratedTimestamp;
  created_at: GeneratedTimestamp;
  /** `OUTBOX_PRIORITY` of its kind. */
  priority: Generated<number>;
  /** Since when Temporal has it without having begun; null while it waits, and for what workers send themselves. */
  taken_at: Date | null;
}

/** How records ended that were deleted within the last days. */
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
  /** Of the parsed input; null for keys from before it was kept. */
  fingerprint: string | null;
  status_code: number;
  response: Json;
  created_at: GeneratedTimestamp;
}
