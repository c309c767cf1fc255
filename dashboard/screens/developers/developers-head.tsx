import { Button } from '@mantine/core';
import { IconBook } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { AsCode } from '../../parts/as-code.tsx';
import type { CurlRequest } from '../../parts/curl-request.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { text } from '../../text/text.ts';

const words = text.developers;

/** The header of the lists for developers, with links to the API reference and to the same list by the API. */
export function DevelopersHead({
  tab,
  actions,
  code,
}: {
  tab: keyof typeof words.tabs;
  actions?: ReactNode;
  /** The API request that returns the same list. */
  code?: CurlRequest;
}) {
  return (
    <PageHead
      title={words.tabs[tab]}
      subtitle={words.what[tab]}
      actions={
        <>
          {code && <AsCode {...code} />}
          <Button
            component="a"
            href="/docs"
            target="_blank"
            rel="noreferrer"
            variant="default"
            leftSection={<IconBook size={16} stroke={1.75} aria-hidden />}
          >
            {words.reference}
          </Button>
          {actions}
        </>
      }
    />
  );
}
