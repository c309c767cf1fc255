import { v7 } from 'uuid';
import type { Db } from '../../../db/connection.ts';
import type { CallOptions, CallResult } from '../../support/http.ts';
import type { Voice } from './voice.ts';

/** What the parts of a seeded project are made with. */
export interface World {
  db: Db;
  projectId: string;
  voice: Voice;
  /** As the project, by its key. */
  call(method: string, path: string, options?: CallOptions): Promise<CallResult>;
}

export const HOUR_MS = 3_600_000;

/** That many hours ago; below 0 it is yet to come. */
export function hoursAgo(hours: number): Date {
  return new Date(Date.now() - hours * HOUR_MS);
}

/** A new id as a row of that instant has it: lists and prunings go by ids. */
export function idAt(at: Date): string {
  return v7({ msecs: at.getTime() });
}

/** The nth of a list that begins again at its end. */
export function pick<T>(list: readonly T[], n: number): T {
  const item = list[n % list.length];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}
