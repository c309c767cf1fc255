import type { Db } from '../connection.ts';

/** The country of a project's phone numbers without a calling code; null where it has set none. */
export async function findPhoneCountry(db: Db, projectId: string): Promise<string | null> {
  const row = await db.selectFrom('projects').select('phone_country').where('id', '=', projectId).executeTakeFirst();
  return row?.phone_country ?? null;
}
