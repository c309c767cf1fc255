import type { Generated } from 'kysely';
import type { AffectedRows } from '../../rules/affected-rows.ts';
import type { GeneratedTimestamp, NullableJson } from './columns.ts';

/** The log of requests. */
export interface RequestsTables {
  requests: RequestsTable;
}

export interface RequestsTable {
  id: Generated<string>;
  project_id: string;
  /** The X-Request-Id of the response. Callers may choose it, and may use the same id several times. */
  request_id: string;
  method: string;
  /** The documented path, such as `/contacts/{id}`. */
  route: string;
  status: number;
  ms: number;
  /** `key:<id>`, `user:<id>` or `public`. */
  actor: string;
  error_code: string | null;
  made: NullableJson<AffectedRows>;
  created_at: GeneratedTimestamp;
}
