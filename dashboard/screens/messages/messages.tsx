import { Box, Text } from '@mantine/core';
import { IconMail } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { infiniteQueryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { EmailStatus } from '../../parts/email-status.tsx';
import { Empty } from '../../parts/empty.tsx';
import { ChoiceFilter, Filters, listWordChoices, SpanFilter, TextFilter, toChoices } from '../../parts/filters.tsx';
import { Instant } from '../../parts/instant.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { ReasonText } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { listExplainedValues } from '../../text/words.ts';
import { useFirstEmail } from './first-email.ts';
import { EMAIL_REASONS, type EmailSearch, toApiQuery } from './search.ts';

type Email = ResponseOf<'listEmails'>['data'][number];

/** All emails, newest first. The filters are in the URL. */
export function Messages() {
  const search = useSearch({ from: '/shell/messages' });
  const pages = useInfiniteQuery(infiniteQueryFor('listEmails', { query: toApiQuery(search) }));
  const isNarrowed = Object.keys(search).length > 0;
  return (
    <>
      <PageHead title={text.messages.emails} />
      <EmailFilters search={search} />
      <CursorTable
        pages={pages}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        caption={text.messages.emails}
        empty={
          isNarrowed ? (
            <Empty icon={IconMail} title={text.messages.noneLikeThat} what={text.messages.noneLikeThatWhy} />
          ) : (
            <NoEmails />
          )
        }
      />
    </>
  );
}

function NoEmails() {
  return (
    <Empty icon={IconMail} title={text.messages.noEmails} what={text.messages.noEmailsWhy} curl={useFirstEmail()} />
  );
}

const COLUMNS: Column<Email>[] = [
  {
    name: text.messages.status,
    wideOnly: true,
    width: 130,
    cell: ({ status, reason }) => <EmailStatus status={status} reason={reason} />,
  },
  {
    name: text.messages.subject,
    isMain: true,
    cell: ({ id, subject, to }) => (
      <>
        <AppLink to={`/messages/${id}`} lineClamp={2}>
          {subject || text.messages.noSubject}
        </AppLink>
        <Text size="sm" c="dimmed" lineClamp={1} hiddenFrom="sm">
          {to ?? text.messages.erased}
        </Text>
      </>
    ),
  },
  {
    name: text.messages.to,
    wideOnly: true,
    cell: ({ to, contactId }) =>
      to && contactId ? (
        <AppLink to={`/contacts/${contactId}`}>{to}</AppLink>
      ) : (
        (to ?? <Text c="dimmed">{text.messages.erased}</Text>)
      ),
  },
  {
    name: text.messages.reason,
    wideOnly: true,
    width: 150,
    cell: ({ reason }) => <ReasonText value={reason} />,
  },
  {
    name: text.messages.source,
    wideOnly: true,
    width: 120,
    cell: ({ sourceType }) => text.messages.sources[sourceType],
  },
  {
    name: text.messages.when,
    width: 110,
    isWhole: true,
    cell: ({ status, reason, createdAt }) => (
      <>
        {/* A phone has no column for the status. */}
        <Box hiddenFrom="sm">
          <EmailStatus status={status} reason={reason} />
        </Box>
        <span className="when">
          <Instant at={createdAt} />
        </span>
      </>
    ),
  },
];

/** In the API, an email that a rule skipped is FAILED too. So the filter FAILED finds failed and skipped emails. */
const STATUSES = listWordChoices('email', listExplainedValues('email') as NonNullable<EmailSearch['status']>[]).map(
  (choice) => (choice.value === 'FAILED' ? { ...choice, label: text.messages.failedOrSkipped } : choice),
);

function EmailFilters({ search }: { search: EmailSearch }) {
  const navigate = useNavigate();
  return (
    <Filters
      search={search}
      go={(next) => void navigate({ to: '/messages', search: next, replace: true })}
      isMoreSet={search.happened !== undefined || search.reason !== undefined || search.mode !== undefined}
      more={(set) => (
        <>
          <ChoiceFilter
            label={text.messages.happened}
            value={search.happened}
            choices={toChoices(text.messages.events)}
            onChange={(happened) => set({ happened })}
          />
          <ChoiceFilter
            label={text.messages.reason}
            value={search.reason}
            choices={listWordChoices('reason', EMAIL_REASONS)}
            onChange={(reason) => set({ reason })}
          />
          <ChoiceFilter
            label={text.messages.mode}
            value={search.mode}
            choices={toChoices(text.messages.modes)}
            onChange={(mode) => set({ mode })}
          />
        </>
      )}
    >
      {(set) => (
        <>
          <TextFilter
            label={text.messages.to}
            placeholder={text.messages.toEmail}
            value={search.to}
            onChange={(to) => set({ to })}
          />
          <ChoiceFilter
            label={text.messages.status}
            value={search.status}
            choices={STATUSES}
            onChange={(status) => set({ status })}
          />
          <ChoiceFilter
            label={text.messages.source}
            value={search.sourceType}
            choices={toChoices(text.messages.sources)}
            onChange={(sourceType) => set({ sourceType })}
          />
          <SpanFilter search={search} set={set} />
        </>
      )}
    </Filters>
  );
}
