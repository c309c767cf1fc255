import { queryFor } from '../../api/queries.ts';

/**
 * The query for the next 48 hours. It has a file of its own, because Home sends it before it loads the panel that shows
 * the result.
 */
export const UPCOMING = queryFor('listUpcomingHours', { query: { hours: 48 } });
