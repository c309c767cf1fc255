import { sql } from 'kysely';
import type { Db } from '../connection.ts';

/** Signing key of a domain. The key is encrypted for the context `getDkimKeyContext(id)`. */
export interface SenderKey {
  id: string;
  domain: string;
  selector: string;
  sealedPrivateKey: string;
}

export async function findSenderKey(
  db: Db,
  p: { projectId: string; domainId: string },
): Promise<SenderKey | undefined> {
  const { rows } = await sql<SenderKey>`
    SELECT id, domain, dkim_selector AS selector, dkim_private_key AS "sealedPrivateKey"
    FROM domains WHERE project_id = ${p.projectId} AND id = ${p.domainId}
  `.execute(db);
  return rows[0];
}
