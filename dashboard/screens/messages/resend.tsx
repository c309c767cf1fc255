import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconSend } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Failed } from '../../parts/failed.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import type { Email } from './email-type.ts';

const NOT_ENDED: readonly Email['status'][] = ['PENDING', 'SENDING', 'HELD'];

/** Sends an email again after a confirmation, because a sent email cannot be recalled, and opens the new email. */
export function Resend({ email }: { email: Email }) {
  const [isConfirmOpen, confirmDialog] = useDisclosure();
  const navigate = useNavigate();
  const resend = useWrite('resendEmail', { changes: ['listEmails', 'listContactTimeline'] });
  const send = () =>
    resend.mutate(
      { params: { id: email.id } },
      {
        onSuccess: ({ data }) => {
          confirmDialog.close();
          notifySuccess(`${text.messages.resent}. ${text.messages.resentWhere}`);
          const id = data.emails[0]?.email;
          if (id) void navigate({ to: '/messages/$id', params: { id } });
        },
      },
    );
  return (
    <>
      <ActionButton
        needs="email:send"
        whyNot={findReasonNotToResend(email)}
        variant="default"
        leftSection={<IconSend size={16} aria-hidden />}
        onClick={confirmDialog.open}
      >
        {text.messages.resend}
      </ActionButton>
      <Modal
        opened={isConfirmOpen}
        onClose={confirmDialog.close}
        title={text.messages.resendTitle}
        closeButtonProps={{ 'aria-label': text.app.close }}
      >
        <Stack>
          <Text size="sm">{text.messages.resendHelp(email.to ?? '')}</Text>
          {resend.error && <Failed error={resend.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={confirmDialog.close}>
              {text.parts.cancel}
            </Button>
            <Button onClick={send} loading={resend.isPending} data-autofocus>
              {text.messages.resend}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}

function findReasonNotToResend({ status, sourceType, to }: Email): string | undefined {
  if (sourceType === 'INBOUND') return text.messages.received;
  if (NOT_ENDED.includes(status)) return text.messages.underWay;
  return to === null ? text.messages.gone : undefined;
}
