import { type DemoReport, formatTimeSince } from './report.ts';

/**
 * One demonstration: sends a message, sends real feedback about it to the service, and checks that the service records
 * the feedback.
 */
export interface Loop<T> {
  readonly title: string;
  /**
   * Runs the demonstration.
   * @returns the recorded facts, for the summary
   * @throws Error that names the missing feedback
   */
  close(tour: T): Promise<string>;
}

export interface LoopResult {
  readonly title: string;
  readonly closed: boolean;
  /** The recorded facts as text. If the loop failed, the feedback that was not recorded. */
  readonly summary: string;
}

/** Runs the loops in order. A failed loop does not stop the others. */
export async function runLoops<T extends { readonly report: DemoReport }>(
  tour: T,
  loops: readonly Loop<T>[],
): Promise<LoopResult[]> {
  const { report } = tour;
  const results: LoopResult[] = [];
  for (const { title, close } of loops) {
    report.title(title);
    const startedAt = performance.now();
    try {
      const summary = await close(tour);
      report.line(`closed after ${formatTimeSince(startedAt)}`);
      results.push({ title, closed: true, summary });
    } catch (error) {
      const summary = error instanceof Error ? error.message : String(error);
      report.line(`NOT CLOSED: ${summary}`);
      results.push({ title, closed: false, summary });
    }
  }
  return results;
}

/** Prints every loop with its recorded facts, and returns whether all loops have succeeded. */
export function printSummary(report: DemoReport, results: readonly LoopResult[]): boolean {
  report.heading('Recorded facts');
  for (const { title, closed, summary } of results)
    report.line(`${closed ? 'closed    ' : 'NOT CLOSED'} ${title}: ${summary}`);
  const open = results.filter(({ closed }) => !closed).length;
  report.heading(
    open === 0 ? `All ${results.length} loops are closed.` : `${open} of ${results.length} loops are NOT CLOSED.`,
  );
  return open === 0;
}
