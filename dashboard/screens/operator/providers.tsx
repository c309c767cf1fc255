import { Group, Select, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { listQueryFor } from '../../api/queries.ts';
import { formatCount, formatShare } from '../../parts/count-link.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant, ShortTime } from '../../parts/instant.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { text } from '../../text/text.ts';
import { describeActor } from '../contacts/contact/describe-actor.ts';
import { OperatorHead } from './operator-head.tsx';
import { SPANS } from './routes.ts';
import { SnsTopics } from './sns-topics.tsx';

type Replies = ResponseOf<'listProviderAnswers'>;

const words = text.operator;
const CELL = { overflowWrap: 'anywhere', maxWidth: 420, verticalAlign: 'top' } as const;

/** Refusals of the mail provider and mail servers by reply code, most frequent first. The time span is in the URL. */
export function Providers() {
  const { hours = 24 } = useSearch({ from: '/shell/operator/providers' });
  const navigate = useNavigate({ from: '/operator/providers' });
  const replies = useQuery(listQueryFor('listProviderAnswers', { query: { hours } }));
  return (
    <>
      <OperatorHead title={words.providers} />
      <Stack gap="lg">
        {replies.data && <SnsTopics topics={replies.data.snsTopics} />}
        <div>
          <Select
            aria-label={words.span}
            data={SPANS.map((span) => ({ value: String(span), label: words.spans[span] }))}
            value={String(hours)}
            onChange={(next) => {
              const span = SPANS.find((known) => String(known) === next);
              void navigate({ search: span === undefined || span === 24 ? {} : { hours: span }, replace: true });
            }}
            allowDeselect={false}
            w={{ base: '100%', sm: 190 }}
            mb="sm"
          />
          <QueryView of={replies} height={320}>
            {(loaded) => <ReplyTable response={loaded} />}
          </QueryView>
        </div>
      </Stack>
    </>
  );
}

function ReplyTable({ response: { answers: replies, looked, since, provider } }: { response: Replies }) {
  const head = (
    <Text size="sm" c="dimmed" mb="sm">
      {words.looked(formatCount(looked), describeActor(provider, null))}
      {since && (
        <>
          {' '}
          {words.lookedSince} <ShortTime at={since} />.
        </>
      )}
    </Text>
  );
  if (replies.length === 0) {
    return (
      <>
        {head}
        <Empty title={words.noRefusedEmails} what={words.noRefusedEmailsHelp} />
      </>
    );
  }
  return (
    <>
      {head}
      <Table.ScrollContainer minWidth={320} type="native">
        <Table verticalSpacing="xs" aria-label={words.providers}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.code}</Table.Th>
              <Table.Th ta="right">{words.emailCount}</Table.Th>
              <Table.Th visibleFrom="sm">{words.domains}</Table.Th>
              <Table.Th visibleFrom="md" ta="right">
                {words.newest}
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {replies.map((reply) => (
              <Row key={reply.code} reply={reply} looked={looked} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}

function Row({ reply, looked }: { reply: Replies['answers'][number]; looked: number }) {
  const { code, mails, failed, bounced, waiting, example, domains, newestAt, projects } = reply;
  const outcome = { failed: formatCount(failed), bounced: formatCount(bounced), waiting: formatCount(waiting) };
  return (
    <Table.Tr>
      <Table.Td style={CELL}>
        <Text fw={500} ff="monospace" size="sm">
          {code}
        </Text>
        <Text size="sm" c="dimmed" lineClamp={2} title={example}>
          {example}
        </Text>
        <Text size="xs" c="dimmed">
          {words.outcomes(outcome)} · {words.inProjects(formatCount(projects))}
        </Text>
      </Table.Td>
      <Table.Td ta="right" style={{ verticalAlign: 'top', whiteSpace: 'nowrap' }}>
        {formatCount(mails)}
        <Text size="xs" c="dimmed">
          {formatShare(mails, looked)}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm" style={CELL}>
        {domains.map(({ domain, mails: n }) => (
          <Group key={domain} gap={6} wrap="nowrap">
            <Text size="sm" miw={0} lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
              {domain}
            </Text>
            <Text size="sm" c="dimmed" style={{ flex: 'none' }}>
              {formatCount(n)}
            </Text>
          </Group>
        ))}
      </Table.Td>
      <Table.Td visibleFrom="md" ta="right" style={{ verticalAlign: 'top' }}>
        <Instant at={newestAt} />
      </Table.Td>
    </Table.Tr>
  );
}
