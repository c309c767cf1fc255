import { Button, Popover } from '@mantine/core';
import { IconCode } from '@tabler/icons-react';
import { text } from '../text/text.ts';
import { Curl } from './curl.tsx';
import type { CurlRequest } from './curl-request.ts';

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
