import { deleteStaleFigures } from '../../db/campaigns/stale-figures.ts';
import { storePastEmailHours } from '../../db/events/email-hours.ts';
import { mergeVisitCounts } from '../../db/executions/step-stats.ts';
import type { ActivityDeps } from '../deps.ts';
import { createNamedParts, type PeriodicParts } from './parts.ts';

/**
 * Periodic work on statistics. It deletes stale statistics of campaigns, adds up the counts of emails for each past
 * hour, and adds up the counts of visits to steps. Postgres records the progress of each part, so a cursor only tells
 * that work is left.
 */
export function createStatisticsParts({ db }: Pick<ActivityDeps, 'db'>): PeriodicParts {
  return createNamedParts({
    campaign_touches: async () => {
      await deleteStaleFigures(db);
      return null;
    },
    mail_hours: async ({ mayContinue }) => ((await storePastEmailHours(db, mayContinue)) ? null : 'hours are left'),
    step_visit_counts: async () => {
      await mergeVisitCounts(db);
      return null;
    },
  });
}
