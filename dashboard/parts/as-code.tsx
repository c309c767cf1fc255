import { Button, Modal, Popover } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCode } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { text } from '../text/text.ts';
import { Curl } from './curl.tsx';
import type { CurlRequest } from './curl-request.ts';
import { MoreItem } from './more-menu.tsx';

/** A button that shows an API request as code to copy: curl and, if an operation matches, TypeScript. */
export function AsCode(request: CurlRequest) {
  return (
    <Popover position="bottom-end" width="min(560px, 92vw)" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<IconCode size={16} aria-hidden />}>
          {text.developers.asCode.button}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={text.developers.asCode.label}>
        <Curl {...request} />
      </Popover.Dropdown>
    </Popover>
  );
}

/**
 * Returns an entry of a "…" menu that shows an API request as code. `dialog` has the code, and is outside the menu,
 * because the menu closes.
 */
export function useAsCodeItem(request: CurlRequest): { item: ReactNode; dialog: ReactNode } {
  const [opened, { open, close }] = useDisclosure();
  return {
    item: (
      <MoreItem icon={IconCode} onClick={open}>
        {text.parts.byCurl}
      </MoreItem>
    ),
    dialog: (
      <Modal
        opened={opened}
        onClose={close}
        title={text.parts.byCurl}
        size="lg"
        closeButtonProps={{ 'aria-label': text.app.close }}
      >
        <Curl {...request} />
      </Modal>
    ),
  };
}
