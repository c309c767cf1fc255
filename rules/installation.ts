import { timeOfUuid } from './uuid.ts';

/** One installation of the service: a database and its workflows in Temporal. */
export interface Installation {
  /** A random UUID (version 4) that the migration creates. */
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
 * Tells whether a row is from before the upgrade that introduced installations. Such a row keeps the workflow id of the
 * earlier release. Its id shows when it was created.
 */
export function isLegacyRow({ legacyBefore }: Installation, rowId: string): boolean {
  if (legacyBefore === null) return false;
  const madeAt = timeOfUuid(rowId);
  return madeAt !== undefined && madeAt < legacyBefore;
}

/**
 * Tells whether workflows may still run on the task queues of the earlier release, so that workers must serve these,
 * too.
 */
export function hasLegacyQueues({ legacyBefore, legacyClosedAt }: Installation): boolean {
  return legacyBefore !== null && legacyClosedAt === null;
}
