import type { ResponseOf } from '../../api/client.ts';

export type Topic = ResponseOf<'listTopics'>['data'][number];
/** Queries that a change of a topic makes stale. */
export const TOPICS_CHANGED = ['listTopics', 'getTopic'] as const;
