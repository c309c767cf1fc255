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
  callApi,
  type InputOf,
  type OperationId,
  type ResponseOf,
  type VersionedInput,
} from './client.ts';
import { createDeduplicatedCall } from './deduplicated-call.ts';

/** Operations that return a page and a cursor to the next page. */
export type ListId = {
  [Id in OperationId]: ResponseOf<Id> extends { cursor: string | null } | { nextCursor: string | null } ? Id : never;
}[OperationId];
type ArrayIn<Response> = {
  [Key in keyof Response]: Response[Key] extends (infer Item)[] ? Item : never;
}[keyof Response];
export type ItemOf<Id extends ListId> = ArrayIn<ResponseOf<Id>>;

/**
 * Creates the cache of responses. The cache keeps a response for ten minutes after its last use, so that a screen
 * appears immediately when the user goes back. Reads are retried up to three times after no response, a 429, or a
 * status of at least 502. Writes are not retried.
 */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        gcTime: 10 * 60_000,
        retry: (count, error) => isRetryable(error) && count < 3,
        refetchOnWindowFocus: true,
      },
      mutations: { retry: false },
    },
  });
}

function isRetryable(error: unknown): boolean {
  return error instanceof ApiFailure && (error.status === 0 || error.status === 429 || error.status >= 502);
}

/** Returns the options of `useQuery` for one response. The query key is `[operation, input]`. */
export function queryFor<Id extends OperationId>(id: Id, ...[input]: Arguments<Id>) {
  return queryOptions<ResponseOf<Id>, ApiFailure>({
    queryKey: [id, input ?? {}],
    queryFn: ({ signal }) => callApi(id, (input ?? {}) as InputOf<Id>, { signal }),
  });
}

/**
 * Returns the same options as `queryFor`, for a list with filters: the old rows stay until the new rows arrive, so
 * that the layout does not jump.
 */
export function listQueryFor<Id extends OperationId>(id: Id, ...args: Arguments<Id>) {
  return { ...queryFor(id, ...args), placeholderData: keepPreviousData };
}

/**
 * Returns the options of `useInfiniteQuery` for a list that is read page by page with its cursor. `getRows` returns the
 * rows of one page.
 */
export function infiniteQueryFor<Id extends ListId>(id: Id, ...[input]: Arguments<Id>) {
  return infiniteQueryOptions({
    queryKey: [id, input ?? {}, 'pages'],
    queryFn: ({ signal, pageParam }): Promise<ResponseOf<Id>> => {
      const args = (input ?? {}) as InputOf<Id> & { query?: object };
      const query = { ...args.query, ...(pageParam !== undefined && { cursor: pageParam }) };
      return callApi(id, { ...args, query } as InputOf<Id>, { signal });
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => {
      // The lists of emails and SMS name the cursor `nextCursor`.
      const { cursor, nextCursor, hasMore } = last as Partial<Record<'cursor' | 'nextCursor', string | null>> & {
        hasMore?: boolean;
      };
      return hasMore === false ? undefined : (cursor ?? nextCursor ?? undefined);
    },
    placeholderData: keepPreviousData,
  });
}

/** Returns the rows of a response: the value of its first field that is a list (`data`, `contacts`, `items` …). */
export function getRows<Response extends object>(response: Response): ArrayIn<Response>[] {
  return (Object.values(response).find(Array.isArray) ?? []) as ArrayIn<Response>[];
}

/**
 * Returns a mutation for an operation that writes. A double click does not repeat the write (`createDeduplicatedCall`).
 * @param p.changes operations whose responses become stale and are read again; `'all'` if the write could change
 * anything
 */
export function useWrite<Id extends OperationId>(id: Id, p: { changes: readonly OperationId[] | 'all' }) {
  const client = useQueryClient();
  const [write] = useState(() => createDeduplicatedCall(id));
  return useMutation<ResponseOf<Id>, ApiFailure, VersionedInput<Id>>({
    mutationKey: [id],
    mutationFn: write,
    onSuccess: async () => {
      const stale = (name: unknown) => p.changes === 'all' || p.changes.includes(name as OperationId);
      await client.invalidateQueries({ predicate: ({ queryKey }) => stale(queryKey[0]) });
    },
    // The record has changed since the user saw it, so the screen reads and shows the current record.
    onError: ({ status }, { seenAt }) =>
      seenAt !== undefined && status === 409 ? client.invalidateQueries() : undefined,
  });
}
