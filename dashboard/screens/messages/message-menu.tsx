import { useClipboard } from '@mantine/hooks';
import { IconCopy } from '@tabler/icons-react';
import { useAsCodeItem } from '../../parts/as-code.tsx';
import type { CurlRequest } from '../../parts/curl-request.ts';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';

/**
 * Rare actions on an email or an SMS: copying its id, and the API request that returns it.
 * @param p.path path of the message in the API
 */
export function MessageMenu({ id, path }: { id: string; path: CurlRequest['path'] }) {
  const { item, dialog } = useAsCodeItem({ method: 'GET', path });
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
        {item}
      </MoreMenu>
      {dialog}
    </>
  );
}
