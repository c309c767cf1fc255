import { hash, verify } from '@node-rs/argon2';

/** What an unknown user's password is compared with, so that the time of the answer does not tell who has an account. */
let decoy: Promise<string> | undefined;

/** The Argon2id hash of a password, with the parameters that OWASP advises (19 MiB, 2 passes), which are the library's own. */
export function hashPassword(password: string): Promise<string> {
  return hash(password);
}

/** Whether a password is the one of a hash; of no hash, it takes as long and is false. */
export async function passwordMatches(password: string, passwordHash: string | undefined): Promise<boolean> {
  decoy ??= hash('nobody has this password');
  const matches = await verify(passwordHash ?? (await decoy), password);
  return matches && passwordHash !== undefined;
}
