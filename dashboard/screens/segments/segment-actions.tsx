import { useDisclosure } from '@mantine/hooks';
import { IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifySuccess, runAfterWrite } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';

const words = text.segments;
const MEMBERSHIP = ['getSegment', 'listSegments', 'listSegmentContacts', 'listSegmentHistory'] as const;

/**
 * Actions on a whole segment: count its contacts now (or compute its members now, if the segment tracks membership),
 * create a campaign for the segment, and delete the segment.
 */
export function SegmentActions({ segment }: { segment: ResponseOf<'getSegment'> }) {
  const [opened, { open, close }] = useDisclosure();
  const navigate = useNavigate();
  const params = { id: segment.id };
  const count = useWrite('refreshSegment', { changes: MEMBERSHIP });
  const compute = useWrite('computeSegment', { changes: MEMBERSHIP });
  const remove = useWrite('deleteSegment', { changes: ['listSegments'] });
  return (
    <>
      {segment.trackMembership ? (
        <ActionButton
          needs="segments:edit"
          variant="default"
          loading={compute.isPending}
          onClick={() =>
            runAfterWrite(compute.mutateAsync({ params }), ({ added, removed }) =>
              notifySuccess(words.computedNow(formatCount(added), formatCount(removed))),
            )
          }
        >
          {words.compute}
        </ActionButton>
      ) : (
        <ActionButton
          needs="segments:edit"
          variant="default"
          loading={count.isPending}
          onClick={() =>
            runAfterWrite(count.mutateAsync({ params }), ({ memberCount }) =>
              notifySuccess(words.counted(formatCount(memberCount))),
            )
          }
        >
          {words.count}
        </ActionButton>
      )}
      <ActionButton
        needs="campaigns:edit"
        onClick={() => void navigate({ to: '/campaigns/new', search: { segment: segment.id } })}
      >
        {words.createCampaign}
      </ActionButton>
      <MoreMenu>
        <MoreItem icon={IconTrash} needs="segments:edit" isDestructive onClick={open}>
          {words.remove}
        </MoreItem>
      </MoreMenu>
      <ConfirmTyped
        opened={opened}
        onClose={close}
        title={words.removeTitle}
        what={words.removeHelp(segment.name)}
        word={segment.slug}
        action={words.remove}
        write={remove}
        onConfirm={() =>
          remove.mutate(
            { params, seenAt: segment.updatedAt },
            {
              onSuccess: () => {
                notifySuccess(words.removed(segment.name));
                void navigate({ to: '/segments' });
              },
            },
          )
        }
      />
    </>
  );
}
