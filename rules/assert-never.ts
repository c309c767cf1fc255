/**
 * Ends a switch over all cases. The compiler names a missing case. At run time, only data of a newer release reaches
 * it.
 * @throws Error always
 */
export function assertNever(value: never): never {
  throw new Error(`this release does not know ${JSON.stringify(value)}`);
}
