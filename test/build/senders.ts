import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { Db } from '../../db/connection.ts';
import { deriveKey, sealSecret } from '../../rules/access/secrets.ts';
import { generateDkimKey, getDkimKeyContext } from '../../rules/domains/dkim-key.ts';
import type { DomainStatus } from '../../rules/domains/sender-domain.ts';

/** The SECRET_KEY of the tests. */
export const TEST_SECRET_KEY = 'the secret key of the tests';

let key: ReturnType<typeof generateDkimKey> | undefined;

/** Builds a verified domain of a project. Its DKIM key is encrypted with the tests' SECRET_KEY. */
export async function buildDomain(
  db: Db,
  p: { projectId: string; domain?: string; status?: DomainStatus; signing?: boolean },
): Promise<{ id: string; domain: string; publicKey: string }> {
  key ??= generateDkimKey();
  const { privateKey, publicKey } = await key;
  const id = uuidv7();
  const domain = p.domain ?? 'shop.example.com';
  const sealed = sealSecret(deriveKey(TEST_SECRET_KEY, 'at-rest'), getDkimKeyContext(id), privateKey);
  await db
    .insertInto('domains')
    .values({
      id,
      project_id: p.projectId,
      domain,
      status: p.status ?? 'VERIFIED',
      signing: p.signing ?? true,
      dkim_selector: 'tidings',
      dkim_private_key: sealed,
      dkim_public_key: publicKey,
      last_checked_at: sql`now()`,
    })
    .execute();
  return { id, domain, publicKey };
}

/** Builds a template of a project. */
export async function buildTemplate(
  db: Db,
  p: { projectId: string; type?: 'TRANSACTIONAL' | 'MARKETING'; subject?: string; body?: string; from?: string | null },
): Promise<string> {
  const id = uuidv7();
  await db
    .insertInto('templates')
    .values({
      id,
      project_id: p.projectId,
      name: 'Test',
      subject: p.subject ?? 'Hello {{name}}',
      body: p.body ?? '<p>Hello {{name}}</p>',
      type: p.type ?? 'TRANSACTIONAL',
      from_email: p.from === undefined ? 'template@shop.example.com' : p.from,
      from_name: 'The template',
      reply_to: 'reply@shop.example.com',
    })
    .execute();
  return id;
}
