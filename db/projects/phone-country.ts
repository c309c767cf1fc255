import type { Db } from '../connection.ts';

/** Returns the project's country for phone numbers without a calling code. Null if the project has set no country. */
export async function findPhoneCountry(db: Db, projectId: string): Promise<string | null> {
  const row = await db.selectFrom('projects').select('phone_country').where('id', '=', projectId).executeTakeFirst();
  return row?.phone_country ?? null;
}
