import { Button } from '@mantine/core';
import { IconBook } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { AsCode } from '../../parts/as-code.tsx';
import type { CurlRequest } from '../../parts/curl-request.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { text } from '../../text/text.ts';

const words = text.developers;

/** The header of the lists for developers, with an API request as code, or a link to the API reference. */
export function DevelopersHead({
  tab,
  actions,
  code,
}: {
  tab: keyof typeof words.tabs;
  actions?: ReactNode;
  /** An API request about the records of the list, such as the request that creates one. */
  code?: CurlRequest;
}) {
  return (
    <PageHead
      title={words.tabs[tab]}
      subtitle={words.what[tab]}
      actions={
        <>
          {code ? <AsCode {...code} /> : <ReferenceButton />}
          {actions}
        </>
      }
    />
  );
}

function ReferenceButton() {
  return (
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
  );
}
