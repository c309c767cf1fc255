import type { GeneratedTimestamp, Timestamp } from './columns.ts';

/** What the operator of the service sees of it. */
export interface OperationTables {
  processes: ProcessesTable;
}

export interface ProcessesTable {
  id: string;
  kind: 'api' | 'worker';
  host: string;
  pid: number;
  version: string;
  build: string;
  started_at: Timestamp;
  seen_at: GeneratedTimestamp;
}
