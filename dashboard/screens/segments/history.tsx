import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ResponseOf } from '../../api/client.ts';
import { infiniteQueryFor } from '../../api/queries.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { Status } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { describeActor } from '../contacts/contact/describe-actor.ts';

type Change = ResponseOf<'listSegmentHistory'>['data'][number];
const words = text.segments;

const COLUMNS: Column<Change>[] = [
  { name: words.when, cell: ({ at }) => <Instant at={at} />, width: 110 },
  {
    name: words.change,
    width: 100,
    cell: ({ change }) => <Status tone={change === 'entry' ? 'done' : 'idle'}>{words.changes[change]}</Status>,
  },
  {
    name: words.contact,
    cell: ({ contactId, email, actor, actorName }) => (
      <>
        {contactId ? <AppLink to={`/contacts/${contactId}`}>{email}</AppLink> : <Text c="dimmed">{words.erased}</Text>}
        {actor && (
          <Text size="xs" c="dimmed" hiddenFrom="sm" style={{ overflowWrap: 'anywhere' }}>
            {describeActor(actor, actorName)}
          </Text>
        )}
      </>
    ),
  },
];
/** The columns for a static segment, including the user who changed its members. */
const STATIC_COLUMNS: Column<Change>[] = [
  ...COLUMNS,
  { name: words.by, cell: ({ actor, actorName }) => describeActor(actor, actorName), wideOnly: true },
];

/**
 * Contacts that entered and left, while the segment was tracked. For a static segment: added and removed contacts,
 * with the user.
 */
export function History({ segment: { id, type, trackMembership } }: { segment: ResponseOf<'getSegment'> }) {
  const pages = useInfiniteQuery(infiniteQueryFor('listSegmentHistory', { params: { id } }));
  const nothing =
    type === 'STATIC' ? (
      <Empty title={words.staticHistory} what={words.staticHistoryHelp} />
    ) : trackMembership ? (
      <Empty
        title={words.noHistoryTitle}
        what={words.noHistory}
        curl={{ method: 'POST', path: `/v1/segments/${id}/compute` }}
      />
    ) : (
      <Empty
        title={words.notTracked}
        what={words.notTrackedHelp}
        curl={{ method: 'PATCH', path: `/v1/segments/${id}`, body: { trackMembership: true } }}
      />
    );
  return (
    <CursorTable
      pages={pages}
      columns={type === 'STATIC' ? STATIC_COLUMNS : COLUMNS}
      rowKey={(row) => row.id}
      empty={nothing}
      caption={words.historyCaption}
    />
  );
}
