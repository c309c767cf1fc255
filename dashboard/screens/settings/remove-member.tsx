import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import { type Member, TEAM_CHANGED } from './member.ts';

const words = text.settings.team;

/**
 * Asks before a user is removed from the project, because only a new invitation brings the user back. Users who
 * remove themselves are sent to the sign-in page.
 */
export function RemoveMember({
  member: { userId, email },
  onClose,
}: {
  member: Pick<Member, 'userId' | 'email'>;
  onClose: () => void;
}) {
  const { userId: mine } = useSession();
  const isMe = userId === mine;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const remove = useWrite('removeFromTeam', { changes: isMe ? [] : TEAM_CHANGED });
  const done = () => {
    onClose();
    notifySuccess(isMe ? words.left : words.removed(email));
    if (!isMe) return;
    queries.clear();
    void navigate({ to: '/sign-in' });
  };
  return (
    <ConfirmTyped
      opened
      onClose={onClose}
      title={isMe ? words.leaveTitle : words.removeTitle}
      what={
        <>
          <Text size="sm">{isMe ? words.leaveHelp : words.removeHelp(email)}</Text>
          <Text size="sm" c="dimmed">
            {isMe ? words.myKeysStay : words.keysStay}
          </Text>
        </>
      }
      word={email}
      action={isMe ? words.leave : text.settings.remove}
      write={remove}
      onConfirm={() => remove.mutate({ params: { userId } }, { onSuccess: done })}
    />
  );
}
