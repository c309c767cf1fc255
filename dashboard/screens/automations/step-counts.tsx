import type { ReactNode } from 'react';
import { text } from '../../text/text.ts';
import type { StepCounts } from './canvas/drawing.ts';
import type { AutomationSearch, VisitStatus } from './routes.ts';
import classes from './step-counts.module.css';

const t = text.automations;

/** A count of a step: contacts there now, contacts with one result, or contacts that left by a branch. */
export type CountOf = 'here' | Exclude<VisitStatus, 'CANCELLED'> | { branch: string };

/** Returns the search that lists the contacts of a count. */
export function searchOf(search: AutomationSearch, step: string, count: CountOf): AutomationSearch {
  const { visits: _, branch: __, ...rest } = search;
  if (count === 'here') return { ...rest, step, panel: 'people' };
  const who = typeof count === 'string' ? { visits: count } : { visits: 'COMPLETED' as const, branch: count.branch };
  return { ...rest, step, panel: 'visits', ...who };
}

/** The counts of a step, each a link to its contacts. */
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
  const all: { count: CountOf & string; n: number; words: (n: number) => string }[] = [
    { count: 'here', n: waiting + running, words: t.waitingShort },
    { count: 'COMPLETED', n: completed, words: t.passed },
    { count: 'SKIPPED', n: skipped, words: t.skippedHere },
    { count: 'FAILED', n: failed, words: t.failedHere },
  ];
  const shown = all.filter(({ n }) => n > 0);
  if (shown.length === 0) return <span>{t.nobodyYet}</span>;
  return shown.map(({ count, n, words }) => (
    <CountLink key={count} kind={count} href={hrefOf(count)} onOpen={() => onCount(count)} tabIndex={tabIndex}>
      {words(n)}
    </CountLink>
  ));
}

/** A link to the contacts of a count, which opens beside the drawing. */
export function CountLink({
  kind,
  href,
  onOpen,
  tabIndex,
  children,
}: {
  kind?: string;
  href: string;
  onOpen: () => void;
  tabIndex?: number | undefined;
  children: ReactNode;
}) {
  return (
    <a
      href={href}
      className={classes.count}
      data-count={kind}
      draggable={false}
      tabIndex={tabIndex}
      onClick={(event) => {
        event.stopPropagation();
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        onOpen();
      }}
    >
      {children}
    </a>
  );
}
