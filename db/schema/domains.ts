import type { Generated } from 'kysely';
import type { DomainStatus, FoundRecords, SeenRecords } from '../../rules/domains/sender-domain.ts';
import type { GeneratedJson, GeneratedTimestamp, NullableTimestamp } from './columns.ts';

/** Domains that projects send from. */
export interface DomainsTables {
  domains: DomainsTable;
}

export interface DomainsTable {
  id: Generated<string>;
  project_id: string;
  domain: string;
  status: Generated<DomainStatus>;
  signing: Generated<boolean>;
  dkim_selector: string;
  dkim_private_key: string;
  dkim_public_key: string;
  found: GeneratedJson<FoundRecords & { missingSince?: string }>;
  seen: GeneratedJson<SeenRecords>;
  last_checked_at: NullableTimestamp;
  created_at: GeneratedTimestamp;
  updated_at: GeneratedTimestamp;
}
