/**
 * The end of a switch that knows every case: the compiler names the case that was forgotten. At run time it is reached
 * by data that a newer release wrote.
 * @throws Error always
 */
export function assertNever(value: never): never {
  throw new Error(`this release does not know ${JSON.stringify(value)}`);
}
