/**
 * Ends a switch over all cases. If a case is missing, the compiler reports an error. At run time, only data of a newer
 * release can reach this function.
 * @throws Error always
 */
export function assertNever(value: never): never {
  throw new Error(`this release does not know ${JSON.stringify(value)}`);
}
