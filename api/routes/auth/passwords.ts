import { hash, type Options, parseOptions, verify } from '@node-rs/argon2';

/**
 * The Argon2id hash of a password, with the parameters that OWASP advises (19 MiB, 2 passes), which are the library's
 * own.
 */
export function hashPassword(password: string): Promise<string> {
  return hash(password);
}

/**
 * Salt and parameters for hashing: from an existing hash of the address's accounts, or a new salt for its first
 * account.
 */
export type Seasoning = { like: string } | { salt: Uint8Array };

/**
 * The hash of a password as accounts of an address have it: with one salt and one set of parameters, so that equal
 * passwords have equal hashes. It takes as long whether there is an account or not.
 */
export function hashPasswordFor(seasoning: Seasoning, password: string): Promise<string> {
  return hash(password, 'salt' in seasoning ? { salt: seasoning.salt } : optionsOf(seasoning.like));
}

/** Whether a password is the one of a hash. */
export function passwordMatches(password: string, passwordHash: string): Promise<boolean> {
  return verify(passwordHash, password);
}

/** Salt and parameters of a hash in the PHC form, `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
function optionsOf(passwordHash: string): Options {
  const { algorithm, version, memoryCost, timeCost, parallelism, outputLen } = parseOptions(passwordHash);
  const salt = Buffer.from(passwordHash.split('$').at(-2) ?? '', 'base64');
  return { algorithm, version, memoryCost, timeCost, parallelism, outputLen, salt };
}
