import { timeOfUuid } from './uuid.ts';

/** One installation of the service: a database and what it runs in Temporal. */
export interface Installation {
  /** A random UUID (version 4), made by the migration. */
  id: string;
  /** Part of each name in Temporal; see `shortIdOf`. */
  shortId: string;
  /**
   * Rows with an earlier id keep the workflow ids that an earlier release gave them. Null if no earlier release ran.
   */
  legacyBefore: Date | null;
  /** When the workers stopped serving the task queues of the earlier release; null until then. */
  legacyClosedAt: Date | null;
}

/** The short form of an installation's id: its first 8 characters. All are random, because the id is a UUIDv4. */
export function shortIdOf(installationId: string): string {
  return installationId.slice(0, 8);
}

/**
 * Whether a row is from before the upgrade that brought installations, and keeps the workflow id of the earlier
 * release. Its id says when it was made.
 */
export function isLegacyRow({ legacyBefore }: Installation, rowId: string): boolean {
  if (legacyBefore === null) return false;
  const madeAt = timeOfUuid(rowId);
  return madeAt !== undefined && madeAt < legacyBefore;
}

/** Whether workflows may still run on the task queues of the earlier release, so that workers serve these too. */
export function hasLegacyQueues({ legacyBefore, legacyClosedAt }: Installation): boolean {
  return legacyBefore !== null && legacyClosedAt === null;
}
