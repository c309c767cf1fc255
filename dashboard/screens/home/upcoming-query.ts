import { queryFor } from '../../api/queries.ts';

/**
 * The query for the next 48 hours. The query is in its own file, because Home sends the request before it loads the
 * code of the panel.
 */
export const UPCOMING = queryFor('listUpcomingHours', { query: { hours: 48 } });
