import { Group } from '@mantine/core';
import { IconRoute } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { infiniteQueryFor, queryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { ChoiceFilter, Filters, listWordChoices } from '../../parts/filters.tsx';
import { Instant } from '../../parts/instant.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { Tag } from '../../parts/status.tsx';
import { ReasonText, WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { EXECUTION_STATUSES, type ExecutionSearch } from './routes.ts';

type Execution = ResponseOf<'listExecutions'>['data'][number];

/** The executions of an automation, newest first. The filters are in the URL. */
export function Executions() {
  const { workflowId } = useParams({ from: '/shell/messages/executions/$workflowId' });
  const search = useSearch({ from: '/shell/messages/executions/$workflowId' });
  const navigate = useNavigate();
  const { data: workflow } = useQuery(queryFor('getWorkflow', { params: { id: workflowId } }));
  const pages = useInfiniteQuery(infiniteQueryFor('listExecutions', { params: { id: workflowId }, query: search }));
  const go = (next: ExecutionSearch) =>
    void navigate({ to: '/messages/executions/$workflowId', params: { workflowId }, search: next, replace: true });
  return (
    <>
      <PageHead
        title={text.executions.title(workflow?.name ?? '…')}
        back={{ to: `/automations/${workflowId}`, label: text.executions.automation }}
      />
      <Filters search={search} go={go}>
        {(set) => (
          <>
            <ChoiceFilter
              label={text.executions.status}
              value={search.status}
              choices={listWordChoices('execution', EXECUTION_STATUSES)}
              onChange={(status) => set({ status })}
            />
            <ChoiceFilter
              label={text.executions.kind}
              value={search.sandbox === undefined ? undefined : search.sandbox ? 'true' : 'false'}
              choices={KINDS}
              onChange={(kind) => set({ sandbox: kind === undefined ? undefined : kind === 'true' })}
            />
          </>
        )}
      </Filters>
      <CursorTable
        pages={pages}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        caption={text.executions.caption}
        empty={
          <Empty
            icon={IconRoute}
            title={text.executions.none}
            what={text.executions.noneWhy}
            curl={{ method: 'POST', path: `/v1/workflows/${workflowId}/executions`, body: { contactId: '…' } }}
          />
        }
      />
    </>
  );
}

const KINDS = (['false', 'true'] as const).map((value) => ({ value, label: text.executions.kinds[value] }));

const COLUMNS: Column<Execution>[] = [
  {
    name: text.executions.status,
    width: 140,
    cell: ({ status, sandbox }) => (
      <Group gap={4}>
        <WordBadge kind="execution" value={status} />
        {sandbox && <Tag>{text.executions.sandbox}</Tag>}
      </Group>
    ),
  },
  {
    name: text.executions.contact,
    isMain: true,
    cell: ({ id, workflowId, contactEmail }) => (
      <AppLink to={`/messages/executions/${workflowId}/${id}`} lineClamp={1}>
        {contactEmail ?? text.executions.erased}
      </AppLink>
    ),
  },
  {
    name: text.executions.why,
    wideOnly: true,
    cell: ({ exitReason, error }) => <ReasonText value={exitReason ?? error} />,
  },
  { name: text.executions.started, width: 110, cell: ({ startedAt }) => <Instant at={startedAt} /> },
  { name: text.executions.ended, width: 110, wideOnly: true, cell: ({ completedAt }) => <Instant at={completedAt} /> },
];
