import { IconMessage } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { infiniteQueryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { EmailStatus } from '../../parts/email-status.tsx';
import { Empty } from '../../parts/empty.tsx';
import { ChoiceFilter, Filters, listWordChoices, SpanFilter, TextFilter } from '../../parts/filters.tsx';
import { Instant } from '../../parts/instant.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { ReasonText } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { listExplainedValues } from '../../text/words.ts';
import { type SmsSearch, toApiQuery } from './search.ts';

type Sms = ResponseOf<'listSms'>['data'][number];

const SMS_SOURCES = ['TRANSACTIONAL', 'WORKFLOW'] as const satisfies Sms['sourceType'][];

/** All SMS, newest first. The filters are in the URL. */
export function SmsList() {
  const search = useSearch({ from: '/shell/messages/sms' });
  const navigate = useNavigate();
  const pages = useInfiniteQuery(infiniteQueryFor('listSms', { query: toApiQuery(search) }));
  const isNarrowed = Object.keys(search).length > 0;
  return (
    <>
      <PageHead title={text.messages.sms} />
      <Filters search={search} go={(next) => void navigate({ to: '/messages/sms', search: next, replace: true })}>
        {(set) => (
          <>
            <TextFilter
              label={text.messages.to}
              placeholder={text.messages.toPhone}
              value={search.to}
              onChange={(to) => set({ to })}
            />
            <ChoiceFilter
              label={text.messages.status}
              value={search.status}
              choices={listWordChoices('sms', listExplainedValues('sms') as NonNullable<SmsSearch['status']>[])}
              onChange={(status) => set({ status })}
            />
            <ChoiceFilter
              label={text.messages.source}
              value={search.sourceType}
              choices={SMS_SOURCES.map((value) => ({ value, label: text.messages.sources[value] }))}
              onChange={(sourceType) => set({ sourceType })}
            />
            <SpanFilter search={search} set={set} />
          </>
        )}
      </Filters>
      <CursorTable
        pages={pages}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        caption={text.messages.sms}
        empty={
          isNarrowed ? (
            <Empty icon={IconMessage} title={text.messages.noneLikeThat} what={text.messages.noneLikeThatWhy} />
          ) : (
            <Empty icon={IconMessage} title={text.messages.noSms} what={text.messages.noSmsWhy} curl={FIRST_SMS} />
          )
        }
      />
    </>
  );
}

const FIRST_SMS = {
  method: 'POST',
  path: '/v1/sms/send',
  body: { to: '+4915112345678', body: 'Your code is 4711' },
} as const;

const COLUMNS: Column<Sms>[] = [
  {
    name: text.messages.status,
    width: 130,
    cell: ({ status, reason }) => <EmailStatus kind="sms" status={status} reason={reason} />,
  },
  { name: text.messages.to, isWhole: true, cell: ({ id, to }) => <AppLink to={`/messages/sms/${id}`}>{to}</AppLink> },
  { name: text.messages.from, wideOnly: true, cell: ({ from }) => from },
  { name: text.messages.reason, wideOnly: true, width: 150, cell: ({ reason }) => <ReasonText value={reason} /> },
  {
    name: text.messages.source,
    wideOnly: true,
    width: 120,
    cell: ({ sourceType }) => text.messages.sources[sourceType],
  },
  { name: text.messages.segments, wideOnly: true, align: 'right', width: 90, cell: ({ segments }) => segments },
  { name: text.messages.when, width: 110, cell: ({ createdAt }) => <Instant at={createdAt} /> },
];
