import { ActionIcon, Menu, Modal } from '@mantine/core';
import { useClipboard, useDisclosure } from '@mantine/hooks';
import { IconCode, IconCopy, IconDots } from '@tabler/icons-react';
import { Curl } from '../../parts/curl.tsx';
import { tellDone } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';
import type { Mail } from './mail-type.ts';

/** Rare actions on an email: copying its id, and the API request that returns it. */
export function MailMenu({ mail: { id } }: { mail: Mail }) {
  const [isOpen, request] = useDisclosure();
  const clipboard = useClipboard();
  const copy = () => {
    clipboard.copy(id);
    tellDone(text.parts.copied);
  };
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={32} aria-label={text.messages.more}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconCopy size={16} aria-hidden />} onClick={copy}>
            {text.messages.copyId}
          </Menu.Item>
          <Menu.Item leftSection={<IconCode size={16} aria-hidden />} onClick={request.open}>
            {text.parts.byCurl}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={isOpen}
        onClose={request.close}
        title={text.parts.byCurl}
        size="lg"
        closeButtonProps={{ 'aria-label': text.app.close }}
      >
        <Curl method="GET" path={`/v1/emails/${id}`} />
      </Modal>
    </>
  );
}
