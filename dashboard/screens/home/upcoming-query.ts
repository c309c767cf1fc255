import { queryFor } from '../../api/queries.ts';

/** The next 48 hours. In a file of its own, because Home asks for them before it loads the panel that shows them. */
export const UPCOMING = queryFor('listUpcomingHours', { query: { hours: 48 } });
