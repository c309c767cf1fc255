import type { ExecutionInput, Next, PathEntry, ShownVisit } from '../rules/executions/execution.ts';
import { showDetails } from './current-details.ts';

type OpenNext = Exclude<Next, { kind: 'end' }>;
type Ended = { kind: 'end'; status: string; reason: string | null; path?: PathEntry[] };

/** The maximum number of visits that the Temporal UI shows. The dashboard shows all visits. */
const SHOWN_VISITS = 20;
/** The text with which the outcome of a failed step starts. A reason may follow. */
const FAILED = 'failed';

/**
 * The last visits of an execution. The Temporal UI shows these visits in Markdown as the current details of the
 * workflow. The last line, in bold, is the current position or the end. Current details add nothing to the history,
 * because Temporal requests them from a worker.
 */
export class ExecutionPath {
  private visits: ShownVisit[];
  private readonly link: string | undefined;

  constructor({ path = [], link }: Pick<ExecutionInput, 'path' | 'link'>) {
    this.visits = path;
    this.link = link;
  }

  /** Adds the visits that an activity reported, and shows all of them. */
  update(next: OpenNext | Ended): void {
    for (const entry of next.path ?? []) this.addVisit(entry);
    if (next.kind !== 'end') this.addVisit({ visit: next.visit, label: next.label });
    showDetails(this.describe(next));
  }

  /** Returns the visits that the next run needs when the workflow continues as new. */
  visitsToKeep(): ShownVisit[] {
    return this.visits;
  }

  /** Describes the last step if it failed, for the failure of the workflow. */
  describeFailedStep(): string | undefined {
    const last = this.visits.at(-1);
    return last?.took?.startsWith(FAILED) ? `${last.label} ${last.took}` : undefined;
  }

  private addVisit({ visit, label, took }: { visit: number; label?: string; took?: string }): void {
    const existing = this.visits.find((entry) => entry.visit === visit);
    if (existing) {
      existing.took = took ?? existing.took;
      return;
    }
    if (label === undefined) return;
    const at = new Date(Date.now()).toISOString();
    this.visits = [...this.visits, { visit, label, at, ...(took !== undefined && { took }) }].slice(-SHOWN_VISITS);
  }

  private describe(next: OpenNext | Ended): string {
    const lines = this.visits.map((visit) =>
      next.kind !== 'end' && visit.visit === next.visit
        ? `**${describeVisit(visit)}, ${describePosition(next)}**`
        : describeVisit(visit),
    );
    if (next.kind === 'end') lines.push(`**${describeEnd(next)}**`);
    const list = lines.map((line) => `- ${line}`).join('\n');
    const [first] = this.visits;
    const gap = first && first.visit > 1 ? 'Earlier steps are in the dashboard.\n\n' : '';
    return `${gap}${list}${this.link === undefined ? '' : `\n\n[Open the run in the dashboard](${this.link})`}`;
  }
}

function describeVisit({ label, took, at }: ShownVisit): string {
  return `${at} ${escapeMarkdown(label)}${took === undefined ? '' : ` → ${escapeMarkdown(took)}`}`;
}

function describePosition(next: OpenNext): string {
  switch (next.kind) {
    case 'effect':
      return 'running';
    case 'delay':
      return `waiting until ${next.dueAt}`;
    case 'wait':
      return `waiting for the event${next.deadlineAt === null ? '' : ` until ${next.deadlineAt}`}`;
  }
}

function describeEnd({ status, reason }: Ended): string {
  return reason === null ? status : `${status}: ${escapeMarkdown(reason)}`;
}

/** Returns a name that a tenant chose, on one line and with its Markdown escaped. */
function escapeMarkdown(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*[\]<>]|(?<!\w)_|_(?!\w)/g, '\\$&');
}
