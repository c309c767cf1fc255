import { hash, type Options, parseOptions, verify } from '@node-rs/argon2';

/**
 * Hashes a password with Argon2id. The parameters are the library's defaults, which OWASP recommends (19 MiB, 2
 * passes).
 */
export function hashPassword(password: string): Promise<string> {
  return hash(password);
}

/**
 * The salt and the parameters of a hash. `like` is the hash of an existing account with the same address, whose salt
 * and parameters are used again. `salt` is for the first account of an address, which gets the default parameters.
 */
export type HashParameters = { like: string } | { salt: Uint8Array };

/**
 * Hashes a password with the same salt and parameters as the accounts of an address, so that equal passwords have equal
 * hashes. Hashing takes the same time whether an account exists or not, so the time does not reveal accounts.
 */
export function hashPasswordFor(parameters: HashParameters, password: string): Promise<string> {
  return hash(password, 'salt' in parameters ? { salt: parameters.salt } : parseHashOptions(parameters.like));
}

/** Tells whether a password matches a hash. */
export function passwordMatches(password: string, passwordHash: string): Promise<boolean> {
  return verify(passwordHash, password);
}

/** Reads the salt and the parameters of a hash in the PHC format, `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
function parseHashOptions(passwordHash: string): Options {
  const { algorithm, version, memoryCost, timeCost, parallelism, outputLen } = parseOptions(passwordHash);
  const salt = Buffer.from(passwordHash.split('$').at(-2) ?? '', 'base64');
  return { algorithm, version, memoryCost, timeCost, parallelism, outputLen, salt };
}
