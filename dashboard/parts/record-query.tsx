import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type BackLink, useTabTitle } from './back-link.ts';
import { Failed } from './failed.tsx';
import { GrayHead, type GrayHeader } from './gray-parts.tsx';
import { Placeholder } from './loading.tsx';
import { BackToList, PageHead } from './page-head.tsx';

/**
 * Shows the page of a record. While the record is missing, shows a header with a working link back. Below the header
 * are the gray parts `pending` (see `gray-parts.tsx`), or an error.
 */
export function RecordQuery<Data>({
  of: { data, error, refetch },
  title,
  back,
  pending,
  children,
  ...header
}: GrayHeader & {
  of: Pick<UseQueryResult<Data, Error>, 'data' | 'error' | 'refetch'>;
  /** The title until the record is loaded. */
  title: string;
  back: BackLink;
  pending: ReactNode;
  children: (data: Data) => ReactNode;
}) {
  if (data !== undefined) return <>{children(data)}</>;
  if (error) {
    return (
      <>
        <PageHead title={title} back={back} />
        <Failed error={error} retry={() => void refetch()} />
      </>
    );
  }
  return (
    <PendingPage title={title} back={back}>
      <GrayHead {...header} />
      {pending}
    </PendingPage>
  );
}

function PendingPage({ title, back, children }: { title: string; back: BackLink; children: ReactNode }) {
  useTabTitle(title);
  return (
    <>
      <div>
        <BackToList {...back} />
      </div>
      <Placeholder>{children}</Placeholder>
    </>
  );
}
