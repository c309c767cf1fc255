import { v7 } from 'uuid';
import type { Db } from '../../../db/connection.ts';
import type { CallOptions, CallResult } from '../../support/http.ts';
import type { Voice } from './voice.ts';

/** Input of the builders of a seeded project. */
export interface World {
  db: Db;
  projectId: string;
  voice: Voice;
  /** Calls the API with the project's key. */
  call(method: string, path: string, options?: CallOptions): Promise<CallResult>;
}

export const HOUR_MS = 3_600_000;

/** Returns the time that number of hours ago; a negative number gives a future time. */
export function getTimeHoursAgo(hours: number): Date {
  return new Date(Date.now() - hours * HOUR_MS);
}

/** Returns the time that number of days ago; a negative number gives a future time. */
export function getDaysAgo(days: number): Date {
  return getTimeHoursAgo(24 * days);
}

/** Returns a new id that contains that time, because lists and pruning read the time from the id. */
export function createIdAt(at: Date): string {
  return v7({ msecs: at.getTime() });
}

/** Returns the nth item of a list. After the last item the list starts again. */
export function pick<T>(list: readonly T[], n: number): T {
  const item = list[n % list.length];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}
