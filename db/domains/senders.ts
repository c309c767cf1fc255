import { sql } from 'kysely';
import { AppError } from '../../rules/errors.ts';
import type { Db } from '../connection.ts';

/** @throws AppError DOMAIN_NOT_VERIFIED when the address is not on a verified domain of the project (contract §1.7) */
export async function assertSender(db: Db, projectId: string, from: string): Promise<void> {
  if (!(await isVerifiedSender(db, projectId, from))) throw new AppError('DOMAIN_NOT_VERIFIED', { details: { from } });
}

/** Whether an address is on a verified domain of the project. */
export async function isVerifiedSender(db: Db, projectId: string, from: string): Promise<boolean> {
  const domain = from.slice(from.lastIndexOf('@') + 1).toLowerCase();
  const { rows } = await sql`
    SELECT id FROM domains WHERE project_id = ${projectId} AND domain = ${domain} AND status = 'VERIFIED'
  `.execute(db);
  return rows.length > 0;
}
