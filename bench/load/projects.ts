import { sql } from 'kysely';
import type { Db } from '../../db/connection.ts';
import { insertProject } from '../../db/projects/accounts.ts';
import { insertApiKey } from '../../db/projects/api-keys.ts';
import { generatePublicKey, generateSecretKey } from '../../rules/access/api-keys.ts';
import { GRANTABLE_SCOPES } from '../../rules/access/scopes.ts';
import { buildDomain } from '../../test/build/senders.ts';
import type { ApiClient } from './api-client.ts';

export interface LoadProject {
  id: string;
  secretKey: string;
  /** A verified domain without DKIM. */
  domain: string;
}

/** Creates a project with a live key that has every scope, and a domain to send from. */
export async function createProject(db: Db, name: string): Promise<LoadProject> {
  const id = await insertProject(db, { name, publicKey: generatePublicKey() });
  const { key, hash, prefix } = generateSecretKey('live');
  await insertApiKey(db, {
    projectId: id,
    name: 'load',
    hash,
    prefix,
    scopes: GRANTABLE_SCOPES,
    mode: 'live',
    createdBy: null,
    expiresAt: null,
  });
  const domain = `${name.toLowerCase()}.load.test`;
  await buildDomain(db, { projectId: id, domain, signing: false });
  return { id, secretKey: key, domain };
}

/** Creates a transactional template with a greeting. */
export async function createTemplate(client: ApiClient, domain: string): Promise<string> {
  const { id } = await client.callOk('POST', '/templates', {
    name: 'Load',
    subject: 'Hello {{name}}',
    body: '<p>Hello {{name}}, this is an email.</p>',
    type: 'TRANSACTIONAL',
    from: `hello@${domain}`,
  });
  return id;
}

/** Creates an enabled workflow that `eventName` triggers, with these steps in sequence, and returns its id. */
export async function createWorkflow(client: ApiClient, eventName: string, steps: [string, object][]): Promise<string> {
  const { id } = await client.callOk('POST', '/workflows', { name: eventName, eventName });
  for (const [type, config] of steps)
    await client.callOk('POST', `/workflows/${id}/steps`, { type, config, autoConnect: true });
  await client.callOk('PATCH', `/workflows/${id}`, { enabled: true });
  return id;
}

/**
 * Inserts subscribed contacts `<localPart>1@…` and so on into the database, with the data of the benches' newsletter.
 */
export async function insertContacts(db: Db, p: { projectId: string; count: number; localPart: string }) {
  await sql`
    INSERT INTO contacts (project_id, email, subscribed, data)
    SELECT ${p.projectId}, ${p.localPart}::text || n || '@load.test', true,
      jsonb_build_object('firstName', 'Ada ' || n, 'lastName', 'Lovelace', 'city', 'London', 'plan', 'pro', 'points', n,
        'company', 'Analytical Engines ' || (n % 100))
    FROM generate_series(1, ${p.count}::int) AS n
  `.execute(db);
  await sql`VACUUM ANALYZE contacts`.execute(db);
}
