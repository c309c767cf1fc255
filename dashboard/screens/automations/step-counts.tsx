import { text } from '../../text/text.ts';
import type { StepCounts } from './canvas/drawing.ts';
import type { AutomationSearch, VisitStatus } from './routes.ts';
import classes from './step-counts.module.css';

const t = text.automations;

/** What a count of a step counts: who is there, or who left it so. */
export type CountOf = 'here' | Exclude<VisitStatus, 'CANCELLED'>;

/** The search that shows whom a count counts. */
export function searchOf(search: AutomationSearch, step: string, count: CountOf): AutomationSearch {
  const { visits: _, ...rest } = search;
  return count === 'here' ? { ...rest, step, panel: 'people' } : { ...rest, step, panel: 'visits', visits: count };
}

/** The counts of a step, each a link to those whom it counts. */
export function StepCountLinks({
  counts: { waiting, running, completed, skipped, failed },
  hrefOf,
  onCount,
  tabIndex,
}: {
  counts: StepCounts;
  hrefOf: (count: CountOf) => string;
  onCount: (count: CountOf) => void;
  tabIndex?: number;
}) {
  const all: { count: CountOf; n: number; words: (n: number) => string }[] = [
    { count: 'here', n: waiting + running, words: t.waitingShort },
    { count: 'COMPLETED', n: completed, words: t.passed },
    { count: 'SKIPPED', n: skipped, words: t.skippedHere },
    { count: 'FAILED', n: failed, words: t.failedHere },
  ];
  const shown = all.filter(({ n }) => n > 0);
  if (shown.length === 0) return <span>{t.nobodyYet}</span>;
  return shown.map(({ count, n, words }) => (
    <a
      key={count}
      href={hrefOf(count)}
      className={classes.count}
      data-count={count}
      draggable={false}
      tabIndex={tabIndex}
      onClick={(event) => {
        event.stopPropagation();
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        onCount(count);
      }}
    >
      {words(n)}
    </a>
  ));
}
