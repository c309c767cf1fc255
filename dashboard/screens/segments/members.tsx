import { ActionIcon, Group, Pagination, Text, Tooltip } from '@mantine/core';
import { IconUsers, IconX } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { listQueryFor, useWrite } from '../../api/queries.ts';
import { useMissingPermissionText } from '../../parts/action-button.tsx';
import { ContactCell } from '../../parts/contact-cell.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Instant } from '../../parts/instant.tsx';
import { notifyWithUndo, runAfterWrite } from '../../parts/notifications.tsx';
import { QueryView } from '../../parts/query-view.tsx';
import { Refreshing } from '../../parts/refreshing.tsx';
import { type Column, GrayRows, PendingRows, RowTable } from '../../parts/row-table.tsx';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { AddMembers, MEMBERS_CHANGED } from './add-members.tsx';

const words = text.segments;
const PAGE_SIZE = 50;
type Page = ResponseOf<'listSegmentContacts'>;

const COLUMNS: Column<Page['data'][number]>[] = [
  { name: text.contacts.list.contact, cell: (contact) => <ContactCell {...contact} />, isMain: true },
  {
    name: text.contacts.list.subscription,
    cell: ({ subscription }) => <WordBadge kind="subscription" value={subscription} />,
    isWhole: true,
  },
  { name: words.since, cell: ({ createdAt }) => <Instant at={createdAt} />, wideOnly: true },
];

/** The placeholder of the members. */
export function GrayMembers() {
  return <GrayRows columns={COLUMNS} caption={words.members} />;
}

/** The current members of the segment, in pages. Members of a static segment can be added and removed. */
export function Members({ segment: { id, type } }: { segment: ResponseOf<'getSegment'> }) {
  const { page = 1 } = useSearch({ from: '/shell/segments/$segmentId' });
  const query = { page, pageSize: PAGE_SIZE };
  const contacts = useQuery(listQueryFor('listSegmentContacts', { params: { id }, query }));
  return (
    <>
      {type === 'STATIC' && <AddMembers segmentId={id} />}
      <QueryView of={contacts} pending={<PendingRows columns={COLUMNS} caption={words.members} />}>
        {(response) =>
          response.total === 0 ? (
            <Empty
              icon={IconUsers}
              title={words.noMembers}
              what={type === 'STATIC' ? words.noMembersStatic : words.noMembersDynamic}
              {...(type === 'STATIC' && {
                curl: {
                  method: 'POST' as const,
                  path: `/v1/segments/${id}/members`,
                  body: { emails: ['ada@example.com'] },
                },
              })}
            />
          ) : (
            <MemberPage
              segmentId={id}
              isStatic={type === 'STATIC'}
              response={response}
              isOld={contacts.isPlaceholderData}
            />
          )
        }
      </QueryView>
    </>
  );
}

function MemberPage({
  segmentId,
  isStatic,
  response: { data, page, total, totalPages },
  isOld,
}: {
  segmentId: string;
  isStatic: boolean;
  response: Page;
  isOld: boolean;
}) {
  const navigate = useNavigate({ from: '/segments/$segmentId' });
  const removal: Column<Page['data'][number]> = {
    name: words.remove,
    hidesName: true,
    cell: ({ email }) => <RemoveMember segmentId={segmentId} email={email} />,
    width: 40,
  };
  const columns = isStatic ? [...COLUMNS, removal] : COLUMNS;
  return (
    <Refreshing isBusy={isOld}>
      <RowTable rows={data} columns={columns} rowKey={({ id }) => id} caption={words.members} />
      <Group justify="space-between" mt="sm">
        <Text size="sm" c="dimmed" aria-live="polite">
          {words.previewCount(total, formatCount(total))}
        </Text>
        {totalPages > 1 && (
          <Pagination
            total={totalPages}
            value={page}
            onChange={(next) => void navigate({ search: (before) => ({ ...before, page: next }) })}
            size="sm"
            aria-label={words.pages}
            getControlProps={(control) => ({ 'aria-label': words.pageControls[control] })}
          />
        )}
      </Group>
    </Refreshing>
  );
}

/** Removes a member immediately, with Undo for ten seconds. */
function RemoveMember({ segmentId, email }: { segmentId: string; email: string }) {
  const whyNot = useMissingPermissionText('segments:edit');
  const remove = useWrite('removeSegmentMembers', { changes: MEMBERS_CHANGED });
  const restore = useWrite('addSegmentMembers', { changes: MEMBERS_CHANGED });
  const params = { id: segmentId };
  const removeWithUndo = () =>
    runAfterWrite(remove.mutateAsync({ params, body: { emails: [email] } }), () =>
      notifyWithUndo(words.memberRemoved(email), () => restore.mutateAsync({ params, body: { emails: [email] } })),
    );
  return (
    <Tooltip label={whyNot ?? words.removeMember(email)}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={words.removeMember(email)}
        aria-disabled={whyNot !== undefined || undefined}
        data-disabled={whyNot !== undefined || undefined}
        loading={remove.isPending}
        onClick={whyNot === undefined ? removeWithUndo : undefined}
      >
        <IconX size={16} />
      </ActionIcon>
    </Tooltip>
  );
}
