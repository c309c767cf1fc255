import { Button, Code, Group, Text, TextInput } from '@mantine/core';
import { IconListDetails } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { type ItemOf, infiniteQueryFor, queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { SelectFilter } from '../../parts/filters.tsx';
import { Instant } from '../../parts/instant.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { DevelopersHead } from './developers-head.tsx';
import { METHODS, type RequestsSearch } from './routes.ts';

export type LoggedRequest = ItemOf<'listRequests'>;
type Key = ResponseOf<'listApiKeys'>['data'][number];

const words = text.developers.requests;
const FROM = '/shell/developers/requests';
const POLL_MS = 3_000;
const CLASSES = ['2xx', '4xx', '5xx'] as const;

/** The request log. Its filters are in the URL. */
export function Requests() {
  const search = useSearch({ from: FROM });
  const pages = useInfiniteQuery({ ...infiniteQueryFor('listRequests', { query: search }), refetchInterval: POLL_MS });
  const keys = useApiKeys();
  const query = new URLSearchParams({ ...search }).toString();
  const isFiltered = query !== '';
  return (
    <>
      <DevelopersHead tab="requests" code={{ method: 'GET', path: `/v1/requests${isFiltered ? `?${query}` : ''}` }} />
      <Filters keys={keys} />
      <CursorTable
        pages={pages}
        columns={createColumns(keys)}
        rowKey={({ id }) => id}
        caption={words.caption}
        empty={isFiltered ? <NothingFound /> : <NoRequests />}
      />
    </>
  );
}

/** Returns the API keys of the project, which name the callers of requests; empty for a role that may not see keys. */
export function useApiKeys(): Key[] {
  const { can } = useSession();
  return useQuery({ ...queryFor('listApiKeys'), enabled: can('apikeys:manage') }).data?.data ?? [];
}

function NoRequests() {
  return (
    <Empty
      icon={IconListDetails}
      title={words.emptyTitle}
      what={words.emptyHelp}
      curl={{ method: 'GET', path: '/v1/contacts?limit=1' }}
    />
  );
}

function NothingFound() {
  return (
    <Group>
      <Text c="dimmed">{words.nothingFound}</Text>
      <Button component={Link} to="/developers/requests" variant="default" size="xs">
        {words.clear}
      </Button>
    </Group>
  );
}

function Filters({ keys }: { keys: Key[] }) {
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: '/developers/requests' });
  const change = (next: { [Name in keyof RequestsSearch]: RequestsSearch[Name] | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...next }) as RequestsSearch, replace: true });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const formData = new FormData(event.currentTarget);
    const readField = (name: string) => String(formData.get(name) ?? '').trim() || undefined;
    change({ route: readField('route'), requestId: readField('requestId') });
  };
  const exact = CLASSES.every((name) => name !== search.status) && search.status ? [search.status] : [];
  return (
    <form onSubmit={submit}>
      <Group mb="md" gap="xs" align="flex-end">
        <SelectFilter
          label={words.status}
          any={words.anyStatus}
          value={search.status}
          choices={[
            ...CLASSES.map((value) => ({ value: value as string, label: words.statuses[value] })),
            ...exact.map((value) => ({ value, label: value })),
          ]}
          onChange={(status) => change({ status })}
        />
        <SelectFilter
          label={words.method}
          any={words.anyMethod}
          value={search.method}
          choices={METHODS.map((value) => ({ value, label: value }))}
          onChange={(method) => change({ method })}
          maw={140}
        />
        {keys.length > 0 && (
          <SelectFilter
            label={words.key}
            any={words.anyKey}
            value={search.keyId}
            choices={keys.map(({ id, name, prefix }) => ({ value: id, label: `${name.slice(0, 40)} (${prefix}…)` }))}
            onChange={(keyId) => change({ keyId })}
            maw={230}
            searchable
          />
        )}
        <TextInput
          key={`route ${search.route}`}
          name="route"
          aria-label={words.route}
          placeholder={words.routePlaceholder}
          defaultValue={search.route ?? ''}
          onBlur={(event) => event.currentTarget.form?.requestSubmit()}
          flex="1 1 130px"
          maw={{ sm: 170 }}
        />
        <TextInput
          key={`id ${search.requestId}`}
          name="requestId"
          aria-label={words.search}
          placeholder={words.searchPlaceholder}
          defaultValue={search.requestId ?? ''}
          onBlur={(event) => event.currentTarget.form?.requestSubmit()}
          flex="1 1 220px"
          maw={{ sm: 360 }}
        />
        <button type="submit" hidden />
      </Group>
    </form>
  );
}

/** Shows an HTTP status, colored by its class. */
export function StatusBadge({ status }: { status: number }) {
  return <Status tone={status === 429 ? 'waiting' : status >= 400 ? 'failed' : 'done'}>{status}</Status>;
}

/** Returns the name of a request's caller. A role that may not see keys gets the last characters of the key's id. */
export function getCallerName({ by, keyId }: Pick<LoggedRequest, 'by' | 'keyId'>, keys: readonly Key[]): string {
  if (by === 'public') return words.byPublic;
  if (by === 'user') return words.byPerson;
  return keys.find(({ id }) => id === keyId)?.name ?? words.byKey(keyId?.slice(-6) ?? '');
}

function createColumns(keys: readonly Key[]): Column<LoggedRequest>[] {
  return [
    { name: words.status, cell: ({ status }) => <StatusBadge status={status} />, width: 80 },
    {
      name: words.request,
      cell: ({ id, method, route, errorCode }) => (
        <>
          <AppLink to={`/developers/requests/${id}`}>
            {method} {route}
          </AppLink>
          {errorCode && (
            <Text size="xs" c="dimmed">
              {errorCode}
            </Text>
          )}
        </>
      ),
    },
    { name: words.duration, cell: ({ ms }) => words.milliseconds(ms), align: 'right', width: 90, wideOnly: true },
    {
      name: words.by,
      cell: (request) => (
        <Text size="sm" lineClamp={2}>
          {getCallerName(request, keys)}
        </Text>
      ),
      wideOnly: true,
    },
    { name: words.id, cell: ({ requestId }) => <Code>{requestId.slice(0, 36)}</Code>, wideOnly: true },
    { name: text.developers.when, cell: ({ createdAt }) => <Instant at={createdAt} />, width: 110 },
  ];
}
