import { rmSync } from 'node:fs';
import type { FirstProjectFacts } from './first-project.ts';
import { writePrivate } from './private-files.ts';

/** What a running `npm start` tells scripts and tests. Source: docs/operating.md. */
export interface DevFile extends FirstProjectFacts {
  readonly baseUrl: string;
  readonly databaseUrl: string;
  readonly temporal: { readonly address: string; readonly namespace: string; readonly ui: string | null };
  readonly mailboxUrl: string;
  readonly pids: Pids;
}

/** Null where it is another machine's or another program's process. */
export interface Pids {
  start: number;
  api: number;
  workers: number[];
  postgres: number | null;
  temporal: number | null;
}

/** Writes dev.json in one step, for its owner only. */
export function writeDevFile(path: string, content: DevFile): void {
  writePrivate(path, `${JSON.stringify(content, null, 2)}\n`);
}

/** Removes dev.json: nothing runs that it could tell of. */
export function removeDevFile(path: string): void {
  rmSync(path, { force: true });
}
