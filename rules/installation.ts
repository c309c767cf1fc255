import { readUuidTime } from './uuid.ts';

/** One installation of the service: a database and its workflows in Temporal. */
export interface Installation {
  /** A random UUID (version 4) that the migration creates. */
  id: string;
  /**
   * The short form of the id (see `toShortId`). All names in Temporal contain it, except names of an earlier release.
   */
  shortId: string;
  /**
   * The time of the upgrade that introduced installations. Rows that are older keep the workflow ids of the earlier
   * release. Null if no earlier release ran.
   */
  legacyBefore: Date | null;
  /** When the workers stopped serving the task queues of the earlier release. Null until then. */
  legacyClosedAt: Date | null;
}

/** Returns the short form of an installation's id: its first 8 characters, which are random in a UUIDv4. */
export function toShortId(installationId: string): string {
  return installationId.slice(0, 8);
}

/**
 * Tells whether a row was created before the upgrade that introduced installations. A row from before the upgrade keeps
 * the workflow id of the earlier release. The row's id, a UUIDv7, contains the time of its creation.
 */
export function isLegacyRow({ legacyBefore }: Installation, rowId: string): boolean {
  if (legacyBefore === null) return false;
  const createdAt = readUuidTime(rowId);
  return createdAt !== undefined && createdAt < legacyBefore;
}

/**
 * Tells whether workflows may still run on the task queues of the earlier release. Workers must then serve these
 * queues, too.
 */
export function hasLegacyQueues({ legacyBefore, legacyClosedAt }: Installation): boolean {
  return legacyBefore !== null && legacyClosedAt === null;
}
