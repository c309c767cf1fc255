import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hashPassword } from '../../api/routes/auth/passwords.ts';
import { connect, type Db } from '../../db/connection.ts';
import { findPasswordHash } from '../../db/projects/accounts.ts';
import { findPublicKey, insertFirstProject } from '../../db/projects/first-project.ts';
import { generatePublicKey, generateSecretKey, hashKey, type KeyMode } from '../../rules/access/api-keys.ts';
import { GRANTABLE_SCOPES } from '../../rules/access/scopes.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { generateDkimKey } from '../../rules/domains/dkim-key.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { readJson, writePrivate } from './private-files.ts';

/**
 * The sender domain of the first project. The name is reserved for tests (RFC 2606 §2), so replies to its email never
 * reach a real host.
 */
const DOMAIN = 'tidings.test';
/** A number that Twilio reserves for tests. */
const SMS_SENDER = '+15005550006';
const PASSWORD_BYTES = 12;
/** The number of a key's characters that lists show: `sk_live_` and six more, as in `generateSecretKey`. */
const SHOWN_CHARS = 14;

/** The facts about the first project that dev.json contains. */
export interface FirstProjectFacts {
  readonly projectId: string;
  readonly publicKey: string;
  readonly secretKey: string;
  readonly testKey: string;
  readonly owner: { readonly email: string; readonly password: string };
  readonly domain: string;
}

/**
 * Creates the first project unless it exists, and returns its facts for dev.json. The project has an owner, a live key
 * and a test key with every grantable scope, a verified development domain and an SMS sender. The secrets are saved in
 * the home before the project is inserted. If the process is killed in between, no project with lost secrets remains.
 * Keys that a user has revoked or rotated are not created again.
 */
export async function ensureFirstProject(options: {
  databaseUrl: string;
  secretKey: string;
  homeFolder: string;
}): Promise<FirstProjectFacts> {
  const { db } = connect({
    connectionString: options.databaseUrl,
    max: 1,
    applicationName: 'tidings-start',
    onError: () => {},
  });
  try {
    const file = join(options.homeFolder, 'first-project.json');
    const storedFacts = readJson<FirstProjectFacts>(file);
    const facts = storedFacts ?? (await createFacts(db));
    if (!storedFacts) writePrivate(file, JSON.stringify(facts, null, 2));
    const publicKey = await findPublicKey(db, facts.projectId);
    if (publicKey === undefined) await insertProject(db, facts, options.secretKey);
    return { ...facts, publicKey: publicKey ?? facts.publicKey };
  } finally {
    await db.destroy();
  }
}

async function createFacts(db: Db): Promise<FirstProjectFacts> {
  const projectId = uuidv7();
  const email = `owner@${DOMAIN}`;
  return {
    projectId,
    publicKey: generatePublicKey().key,
    secretKey: generateSecretKey('live').key,
    testKey: generateSecretKey('test').key,
    owner: {
      email: (await findPasswordHash(db, email)) ? `owner-${projectId.slice(-12)}@${DOMAIN}` : email,
      password: randomBytes(PASSWORD_BYTES).toString('base64url'),
    },
    domain: DOMAIN,
  };
}

async function insertProject(db: Db, facts: FirstProjectFacts, secretKey: string): Promise<void> {
  const [dkimKey, passwordHash] = await Promise.all([generateDkimKey(), hashPassword(facts.owner.password)]);
  await insertFirstProject(db, {
    id: facts.projectId,
    name: 'Development',
    publicKey: { key: facts.publicKey, hash: hashKey(facts.publicKey) },
    owner: { id: uuidv7(), email: facts.owner.email, passwordHash },
    keys: [toKeyRow('Development', facts.secretKey, 'live'), toKeyRow('Development (test)', facts.testKey, 'test')],
    domain: { name: facts.domain, key: dkimKey, atRestKey: deriveKey(secretKey, 'at-rest') },
    smsSender: SMS_SENDER,
  });
}

function toKeyRow(name: string, key: string, mode: KeyMode) {
  return { name, hash: hashKey(key), prefix: key.slice(0, SHOWN_CHARS), mode, scopes: GRANTABLE_SCOPES };
}
