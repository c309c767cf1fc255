import { Modal } from '@mantine/core';
import { useClipboard, useDisclosure } from '@mantine/hooks';
import { IconCode, IconCopy } from '@tabler/icons-react';
import { Curl } from '../../parts/curl.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import type { Email } from './email-type.ts';

/** Rare actions on an email: copying its id, and the API request that returns it. */
export function EmailMenu({ email: { id } }: { email: Email }) {
  const [isRequestOpen, requestDialog] = useDisclosure();
  const clipboard = useClipboard();
  const copy = () => {
    clipboard.copy(id);
    notifySuccess(text.parts.copied);
  };
  return (
    <>
      <MoreMenu>
        <MoreItem icon={IconCopy} onClick={copy}>
          {text.messages.copyId}
        </MoreItem>
        <MoreItem icon={IconCode} onClick={requestDialog.open}>
          {text.parts.byCurl}
        </MoreItem>
      </MoreMenu>
      <Modal
        opened={isRequestOpen}
        onClose={requestDialog.close}
        title={text.parts.byCurl}
        size="lg"
        closeButtonProps={{ 'aria-label': text.app.close }}
      >
        <Curl method="GET" path={`/v1/emails/${id}`} />
      </Modal>
    </>
  );
}
