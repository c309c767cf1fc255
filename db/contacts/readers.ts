import { AppError } from '../../rules/errors.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import type { Db } from '../connection.ts';
import type { ContactRef } from './contacts.ts';

/** A contact with the data that rendering needs. */
export interface Reader {
  id: string;
  email: string;
  data: Data;
  untrustedKeys: string[];
}

/** @throws AppError NOT_FOUND (another project's id too) */
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
