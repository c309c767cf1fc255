import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { tellDone, whenDone } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';

const words = text.segments;
const MEMBERSHIP = ['getSegment', 'listSegments', 'listSegmentContacts', 'listSegmentHistory'] as const;

/** Actions on a whole segment: count or compute now, delete. */
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
            whenDone(compute.mutateAsync({ params }), ({ added, removed }) =>
              tellDone(words.computedNow(formatCount(added), formatCount(removed))),
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
            whenDone(count.mutateAsync({ params }), ({ memberCount }) =>
              tellDone(words.counted(formatCount(memberCount))),
            )
          }
        >
          {words.count}
        </ActionButton>
      )}
      <ActionButton needs="segments:edit" variant="light" color="red" onClick={open}>
        {words.remove}
      </ActionButton>
      <ConfirmTyped
        opened={opened}
        onClose={close}
        title={words.removeTitle}
        what={words.removeWhat(segment.name)}
        word={segment.slug}
        action={words.remove}
        isPending={remove.isPending}
        error={remove.error}
        onConfirm={() =>
          remove.mutate(
            { params, seenAt: segment.updatedAt },
            {
              onSuccess: () => {
                tellDone(words.removed(segment.name));
                void navigate({ to: '/segments' });
              },
            },
          )
        }
      />
    </>
  );
}
