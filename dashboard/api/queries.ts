import {
  infiniteQueryOptions,
  keepPreviousData,
  QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { useState } from 'react';
import {
  ApiFailure,
  type Arguments,
  call,
  type InputOf,
  type OperationId,
  type ResponseOf,
  type SeenInput,
} from './client.ts';
import { createOneShot } from './one-shot.ts';

/** Operations that answer a page and a cursor to the next. */
export type ListId = {
  [Id in OperationId]: ResponseOf<Id> extends { cursor: string | null } | { nextCursor: string | null } ? Id : never;
}[OperationId];
type ArrayIn<Answer> = { [Key in keyof Answer]: Answer[Key] extends (infer Item)[] ? Item : never }[keyof Answer];
export type ItemOf<Id extends ListId> = ArrayIn<ResponseOf<Id>>;

/**
 * Creates the cache of responses. They stay for the way back. An error response is not retried; an outage is retried
 * three times.
 */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        gcTime: 10 * 60_000,
        retry: (count, error) => isOutage(error) && count < 3,
        refetchOnWindowFocus: true,
      },
      mutations: { retry: false },
    },
  });
}

function isOutage(error: unknown): boolean {
  return error instanceof ApiFailure && (error.status === 0 || error.status === 429 || error.status >= 502);
}

/** Options of `useQuery` for one answer. Its key is `[operation, input]`. */
export function queryFor<Id extends OperationId>(id: Id, ...[input]: Arguments<Id>) {
  return queryOptions<ResponseOf<Id>, ApiFailure>({
    queryKey: [id, input ?? {}],
    queryFn: ({ signal }) => call(id, (input ?? {}) as InputOf<Id>, { signal }),
  });
}

/** As `answerOf`, for what a filter changes: the old rows stay until the new ones are there, so that nothing jumps. */
export function steadyResponseOf<Id extends OperationId>(id: Id, ...given: Arguments<Id>) {
  return { ...queryFor(id, ...given), placeholderData: keepPreviousData };
}

/**
 * Options of `useInfiniteQuery` for a list, page after page by its cursor. `allOf` gives the rows of the pages read.
 */
export function pagesOf<Id extends ListId>(id: Id, ...[input]: Arguments<Id>) {
  return infiniteQueryOptions({
    queryKey: [id, input ?? {}, 'pages'],
    queryFn: ({ signal, pageParam }): Promise<ResponseOf<Id>> => {
      const given = (input ?? {}) as InputOf<Id> & { query?: object };
      const query = { ...given.query, ...(pageParam !== undefined && { cursor: pageParam }) };
      return call(id, { ...given, query } as InputOf<Id>, { signal });
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => {
      // Mails and SMS call it `nextCursor`.
      const { cursor, nextCursor, hasMore } = last as Partial<Record<'cursor' | 'nextCursor', string | null>> & {
        hasMore?: boolean;
      };
      return hasMore === false ? undefined : (cursor ?? nextCursor ?? undefined);
    },
    placeholderData: keepPreviousData,
  });
}

/** The rows of an answer: its one field that is a list (`data`, `contacts`, `items` …). */
export function rowsOf<Answer extends object>(answer: Answer): ArrayIn<Answer>[] {
  return (Object.values(answer).find(Array.isArray) ?? []) as ArrayIn<Answer>[];
}

/**
 * A write that has one effect, also after a double click (`createOneShot`). It names the operations whose responses
 * it makes stale, which are then read again; `'all'` if it could change anything.
 * @param p.changes operations whose responses it makes stale
 */
export function useWrite<Id extends OperationId>(id: Id, p: { changes: readonly OperationId[] | 'all' }) {
  const client = useQueryClient();
  const [write] = useState(() => createOneShot(id));
  return useMutation<ResponseOf<Id>, ApiFailure, SeenInput<Id>>({
    mutationKey: [id],
    mutationFn: write,
    onSuccess: async () => {
      const stale = (name: unknown) => p.changes === 'all' || p.changes.includes(name as OperationId);
      await client.invalidateQueries({ predicate: ({ queryKey }) => stale(queryKey[0]) });
    },
    // The record may have changed since the user saw it: the screen shows it as it is now.
    onError: ({ status }, { seenAt }) =>
      seenAt !== undefined && status === 409 ? client.invalidateQueries() : undefined,
  });
}
