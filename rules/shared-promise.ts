/** A value that is created when it is first needed. All callers share it. */
export interface SharedPromise<T> {
  /** Creates the value with the first call. If the creation fails, the next call repeats it. */
  get(): Promise<T>;
  /** The value that was created or is being created. Undefined before the first call, and after a failure. */
  readonly current: Promise<T> | undefined;
}

/** Creates a shared promise. A failure is not kept, because its cause may be temporary, such as too many open files. */
export function createSharedPromise<T>(create: () => Promise<T>): SharedPromise<T> {
  let current: Promise<T> | undefined;
  return {
    get() {
      current ??= create().catch((error: unknown) => {
        current = undefined;
        throw error;
      });
      return current;
    },
    get current() {
      return current;
    },
  };
}
