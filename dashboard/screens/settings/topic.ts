import type { ResponseOf } from '../../api/client.ts';

export type Topic = ResponseOf<'listTopics'>['data'][number];
/** Operations whose responses become stale when a topic changes. */
export const TOPICS_CHANGED = ['listTopics', 'getTopic'] as const;
