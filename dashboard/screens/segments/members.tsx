import { ActionIcon, Group, Pagination, Table, Text, Tooltip, VisuallyHidden } from '@mantine/core';
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
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { AddMembers, MEMBERS_CHANGED } from './add-members.tsx';

const words = text.segments;
const PAGE_SIZE = 50;
type Page = ResponseOf<'listSegmentContacts'>;

/** The current members of the segment, in pages. Members of a static segment can be added and removed. */
export function Members({ segment: { id, type } }: { segment: ResponseOf<'getSegment'> }) {
  const { page = 1 } = useSearch({ from: '/shell/segments/$segmentId' });
  const query = { page, pageSize: PAGE_SIZE };
  const contacts = useQuery(listQueryFor('listSegmentContacts', { params: { id }, query }));
  return (
    <>
      {type === 'STATIC' && <AddMembers segmentId={id} />}
      <QueryView of={contacts}>
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
  return (
    <Refreshing isBusy={isOld}>
      <Table.ScrollContainer minWidth={320} type="native">
        <Table highlightOnHover verticalSpacing="xs" aria-label={words.members}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th className="cell-main">{text.contacts.list.contact}</Table.Th>
              <Table.Th>{text.contacts.list.subscription}</Table.Th>
              <Table.Th visibleFrom="sm">{words.since}</Table.Th>
              {isStatic && (
                <Table.Th w={40}>
                  <VisuallyHidden>{words.remove}</VisuallyHidden>
                </Table.Th>
              )}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {data.map((contact) => (
              <Table.Tr key={contact.id}>
                <Table.Td className="cell-main">
                  <ContactCell {...contact} />
                </Table.Td>
                <Table.Td>
                  <WordBadge kind="subscription" value={contact.subscription} />
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <Instant at={contact.createdAt} />
                </Table.Td>
                {isStatic && (
                  <Table.Td>
                    <RemoveMember segmentId={segmentId} email={contact.email} />
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
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
