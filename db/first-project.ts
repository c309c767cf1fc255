import { sql } from 'kysely';
import type { Db } from './connection.ts';

/** What `npm start` makes at its first start; secrets come hashed or sealed. */
export interface FirstProject {
  readonly id: string;
  readonly name: string;
  readonly publicKey: { key: string; hash: Buffer };
  readonly owner: { id: string; email: string; passwordHash: string };
  readonly keys: readonly {
    name: string;
    hash: Buffer;
    prefix: string;
    mode: 'live' | 'test';
    scopes: readonly string[];
  }[];
  readonly domain: { id: string; name: string; selector: string; sealedPrivateKey: string; publicKey: string };
  /** E.164; the sender for every country without one of its own. */
  readonly smsSender: string;
}

/** The project's public key as it is now; undefined when there is no such project. */
export async function findPublicKey(db: Db, projectId: string): Promise<string | undefined> {
  const row = await db.selectFrom('projects').select('public_key').where('id', '=', projectId).executeTakeFirst();
  return row?.public_key;
}

/** Whether somebody has this address already, in a database that other installations use too. */
export async function userExists(db: Db, email: string): Promise<boolean> {
  const row = await db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst();
  return row !== undefined;
}

/** Makes the project with its owner, keys, verified domain and SMS sender: all of it or nothing. */
export async function insertFirstProject(db: Db, project: FirstProject): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('projects')
      .values({
        id: project.id,
        name: project.name,
        public_key: project.publicKey.key,
        public_key_hash: project.publicKey.hash,
      })
      .execute();
    const { owner, domain } = project;
    await trx
      .insertInto('users')
      .values({ id: owner.id, email: owner.email, password_hash: owner.passwordHash })
      .execute();
    await trx.insertInto('memberships').values({ project_id: project.id, user_id: owner.id, role: 'OWNER' }).execute();
    for (const key of project.keys) {
      await trx
        .insertInto('api_keys')
        .values({
          project_id: project.id,
          name: key.name,
          key_hash: key.hash,
          prefix: key.prefix,
          mode: key.mode,
          scopes: [...key.scopes],
          created_by: owner.id,
        })
        .execute();
    }
    await trx
      .insertInto('domains')
      .values({
        id: domain.id,
        project_id: project.id,
        domain: domain.name,
        status: 'VERIFIED',
        dkim_selector: domain.selector,
        dkim_private_key: domain.sealedPrivateKey,
        dkim_public_key: domain.publicKey,
        last_checked_at: sql`now()`,
      })
      .execute();
    await trx
      .insertInto('sms_senders')
      .values({ project_id: project.id, from_phone: project.smsSender, country: null })
      .execute();
  });
}
