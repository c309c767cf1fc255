import type { Generated } from 'kysely';
import type { RequestMade } from '../../rules/request-made.ts';
import type { GeneratedTimestamp, NullableJson } from './columns.ts';

/** The log of requests. */
export interface RequestsTables {
  requests: RequestsTable;
}

export interface RequestsTable {
  id: Generated<string>;
  project_id: string;
  /** As the answer's X-Request-Id; a caller may have given it, and more than once. */
  request_id: string;
  method: string;
  /** As documented: `/contacts/{id}`. */
  route: string;
  status: number;
  ms: number;
  /** `key:<id>`, `user:<id>` or `public`. */
  actor: string;
  error_code: string | null;
  made: NullableJson<RequestMade>;
  created_at: GeneratedTimestamp;
}
