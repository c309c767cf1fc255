/** The number of reads from Temporal that run concurrently. Each read is one small RPC. */
const AT_A_TIME = 16;

/** Reads one value from Temporal for each item, `AT_A_TIME` at a time. Returns the values in the order of the items. */
export async function readEach<T, R>(items: readonly T[], read: (item: T) => Promise<R>): Promise<R[]> {
  const values: R[] = [];
  for (let at = 0; at < items.length; at += AT_A_TIME) {
    values.push(...(await Promise.all(items.slice(at, at + AT_A_TIME).map(read))));
  }
  return values;
}
