import { describeStartError, onSignals } from '../start/service-process.ts';

const EXIT_WRONG = 1;
const EXIT_INTERRUPTED = 130;

/**
 * Opens a resource of the tour, such as a service or a server. When the tour ends for any reason, the resources are
 * closed in the reverse order.
 * @throws Error if the tour is already ending
 */
export type Open = <T extends { close(): unknown }>(start: () => T | Promise<T>) => Promise<T>;

/**
 * Runs a tour as this process and ends the process. The exit code is 0 if the tour reports success, 1 if it reports or
 * throws a failure, and 130 after a signal.
 */
export async function runTour(tour: (open: Open) => Promise<boolean>): Promise<never> {
  const opened: { close(): unknown }[] = [];
  let ending: Promise<never> | undefined;
  const end = (code: number): Promise<never> => {
    ending ??= closeAll(opened).then(() => process.exit(code));
    return ending;
  };
  onSignals(
    () => void end(EXIT_INTERRUPTED),
    () => process.exit(EXIT_INTERRUPTED),
  );
  try {
    const right = await tour(async (start) => {
      if (ending) throw new Error('the tour is ending');
      const resource = await start();
      opened.push(resource);
      return resource;
    });
    return await end(right ? 0 : EXIT_WRONG);
  } catch (error) {
    if (!ending) console.error(describeStartError(error));
    return end(EXIT_WRONG);
  }
}

async function closeAll(opened: { close(): unknown }[]): Promise<void> {
  for (let last = opened.pop(); last; last = opened.pop()) await last.close();
}
