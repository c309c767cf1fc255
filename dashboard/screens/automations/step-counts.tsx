import type { ReactNode } from 'react';
import { formatShare } from '../../parts/count-link.tsx';
import { text } from '../../text/text.ts';
import type { StepCounts } from './canvas/drawing.ts';
import type { AutomationSearch, VisitStatus } from './routes.ts';
import classes from './step-counts.module.css';

const t = text.automations;

/** A count of a step: contacts there now, contacts with one result, or contacts that left by a branch. */
export type StepCountKind = 'here' | Exclude<VisitStatus, 'CANCELLED'> | { branch: string };

/** Returns the search that lists the contacts of a count. */
export function createCountSearch(search: AutomationSearch, step: string, count: StepCountKind): AutomationSearch {
  const { visits: _, branch: __, ...rest } = search;
  if (count === 'here') return { ...rest, step, panel: 'people' };
  const visitFilter =
    typeof count === 'string' ? { visits: count } : { visits: 'COMPLETED' as const, branch: count.branch };
  return { ...rest, step, panel: 'visits', ...visitFilter };
}

/** Returns the counts of a step that are not 0: failed, at the step now, skipped, completed. */
export function listNonZeroCounts({ waiting, running, completed, skipped, failed }: StepCounts) {
  const all: { count: StepCountKind & string; n: number; tone?: string; words: (n: number) => string }[] = [
    { count: 'FAILED', n: failed, tone: 'failed', words: t.failedHere },
    { count: 'here', n: waiting + running, tone: 'waiting', words: t.waitingShort },
    { count: 'SKIPPED', n: skipped, words: t.skippedHere },
    { count: 'COMPLETED', n: completed, words: t.passed },
  ];
  return all.filter(({ n }) => n > 0).map(({ words, n, ...rest }) => ({ ...rest, words: words(n) }));
}

/** Returns the share of a step's latest emails that were opened; undefined for other steps, and without emails. */
export function formatOpenRate({ emails }: StepCounts): string | undefined {
  return emails && emails.sent > 0 ? formatShare(emails.opened, emails.sent) : undefined;
}

/** Shows at most two counts of a step, or one count and the open rate. Each count links to its contacts. */
export function StepCountLinks({
  counts,
  hrefOf,
  onCount,
}: {
  counts: StepCounts;
  hrefOf: (count: StepCountKind) => string;
  onCount: (count: StepCountKind) => void;
}) {
  const all = listNonZeroCounts(counts);
  const isPassed = ({ count }: (typeof all)[number]) => count === 'COMPLETED';
  const rate = formatOpenRate(counts);
  // A card has two lines: the completed count first, then other counts or else the rate. The panel shows all counts.
  const others = all.filter((one) => !isPassed(one) && !(one.count === 'SKIPPED' && rate !== undefined));
  const visibleCounts = [...all.filter(isPassed), ...others].slice(0, 2);
  return (
    <>
      {visibleCounts.map(({ count, tone, words }) => (
        <CountLink key={count} tone={tone} href={hrefOf(count)} onOpen={() => onCount(count)}>
          {words}
        </CountLink>
      ))}
      {rate !== undefined && visibleCounts.length < 2 && <span>{t.openedRate(rate)}</span>}
    </>
  );
}

/** A link to the contacts of a count, which opens beside the drawing. */
export function CountLink({
  tone,
  label,
  href,
  onOpen,
  tabIndex,
  children,
}: {
  /** Shows the dot of this status. */
  tone?: string | undefined;
  /** Names the link for screen readers if it shows only a number. */
  label?: string;
  href: string;
  onOpen: () => void;
  tabIndex?: number | undefined;
  children: ReactNode;
}) {
  return (
    <a
      href={href}
      className={`${classes.count} ${tone ? 'status' : ''}`}
      data-tone={tone}
      aria-label={label}
      title={label}
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
