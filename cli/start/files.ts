import { access, constants } from 'node:fs/promises';
import { StartError } from './error.ts';

/**
 * Checks that a file can be read.
 * @throws StartError with a one-line message that names the variable
 */
export async function requireFile(variable: string, path: string): Promise<void> {
  try {
    await access(path, constants.R_OK);
  } catch (cause) {
    throw new StartError(`${variable} must be the path of a PEM file that can be read; ${path} cannot.`, { cause });
  }
}
