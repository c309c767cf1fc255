import { rmSync } from 'node:fs';
import type { FirstProjectFacts } from './first-project.ts';
import { writePrivate } from './private-files.ts';

/** The content of dev.json: facts about a running `npm start`, for scripts and tests (docs/operate/install.md). */
export interface DevFile extends FirstProjectFacts {
  readonly baseUrl: string;
  readonly databaseUrl: string;
  readonly temporal: { readonly address: string; readonly namespace: string; readonly ui: string | null };
  readonly mailboxUrl: string;
  readonly pids: Pids;
}

/** The process ids of the service's parts. Null for a part that `npm start` does not run itself. */
export interface Pids {
  start: number;
  api: number;
  workers: number[];
  postgres: number | null;
  temporal: number | null;
}

/** Writes dev.json atomically, readable only by its owner. */
export function writeDevFile(path: string, content: DevFile): void {
  writePrivate(path, `${JSON.stringify(content, null, 2)}\n`);
}

/** Removes dev.json. Called when the service does not run any more. */
export function removeDevFile(path: string): void {
  rmSync(path, { force: true });
}
