import { AppError } from '../../rules/errors.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import type { Db } from '../connection.ts';
import type { ContactRef } from './contacts.ts';

/** A contact with the data that an email is rendered with. */
export interface Reader {
  id: string;
  email: string;
  data: Data;
  untrustedKeys: string[];
}

/**
 * Returns one contact.
 * @throws AppError NOT_FOUND, also for an id of another project
 */
export async function getReader(db: Db, { projectId, id }: ContactRef): Promise<Reader> {
  const row = await db
    .selectFrom('contacts')
    .select(['id', 'email', 'data', 'untrusted_keys as untrustedKeys'])
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw new AppError('NOT_FOUND', { message: 'No contact of this project has this id.' });
  return row;
}
