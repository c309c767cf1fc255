import type { DkimKey } from '../../rules/domains/dkim-key.ts';
import type { Db } from '../connection.ts';
import { insertDomain } from '../domains/domains.ts';
import { insertSmsSender } from '../sms/senders.ts';
import { insertApiKey, type NewApiKey } from './api-keys.ts';

/**
 * The first project, which `npm start` creates. The caller chooses the ids, so that after a crash it can check whether
 * the project was created.
 */
export interface FirstProject {
  readonly id: string;
  readonly name: string;
  readonly publicKey: { key: string; hash: Buffer };
  readonly owner: { id: string; email: string; passwordHash: string };
  readonly keys: readonly Pick<NewApiKey, 'name' | 'hash' | 'prefix' | 'mode' | 'scopes'>[];
  /** The domain is created as verified, without a DNS check. */
  readonly domain: { name: string; key: DkimKey; atRestKey: Buffer };
  /** Phone number in E.164 that sends SMS to all countries without a specific sender. */
  readonly smsSender: string;
}

/** Finds the project's current public key. Undefined if the project does not exist. */
export async function findPublicKey(db: Db, projectId: string): Promise<string | undefined> {
  const row = await db.selectFrom('projects').select('public_key').where('id', '=', projectId).executeTakeFirst();
  return row?.public_key;
}

/** Creates the project with its owner, keys, verified domain and SMS sender, in one transaction. */
export async function insertFirstProject(db: Db, project: FirstProject): Promise<void> {
  const { id, owner, domain, publicKey } = project;
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('projects')
      .values({ id, name: project.name, public_key: publicKey.key, public_key_hash: publicKey.hash })
      .execute();
    await trx
      .insertInto('users')
      .values({ id: owner.id, email: owner.email, password_hash: owner.passwordHash })
      .execute();
    await trx.insertInto('memberships').values({ project_id: id, user_id: owner.id, role: 'OWNER' }).execute();
    for (const key of project.keys) {
      await insertApiKey(trx, { ...key, projectId: id, createdBy: owner.id, expiresAt: null });
    }
    await insertDomain(trx, { projectId: id, domain: domain.name, key: domain.key, atRestKey: domain.atRestKey });
    await trx.updateTable('domains').set({ status: 'VERIFIED' }).where('project_id', '=', id).execute();
    await insertSmsSender(trx, { projectId: id, country: null, from: project.smsSender });
  });
}
