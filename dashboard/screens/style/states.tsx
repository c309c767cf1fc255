import { Alert, Button, Skeleton } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { Empty } from '../../parts/empty.tsx';
import { Failed } from '../../parts/failed.tsx';
import {
  GrayCard,
  GrayColumns,
  GrayForm,
  GrayHead,
  GrayStats,
  GrayTabs,
  GrayTimeline,
} from '../../parts/gray-parts.tsx';
import { GrayCards } from '../../parts/pending-cards.tsx';
import { GrayLines } from '../../parts/pending-lines.tsx';
import { GrayRows } from '../../parts/row-table.tsx';

import { Part } from './part.tsx';

const COLUMNS = [
  { name: 'Campaign', cell: () => null },
  { name: 'Sent', cell: () => null, align: 'right' as const },
];

/** Notices, empty, loading and failed states. */
export function States() {
  return (
    <Part title="Notices and states">
      <Alert color="orange" icon={<IconAlertTriangle size={16} aria-hidden />}>
        DMARC is missing for mail.northwind.example. Gmail and Yahoo require it from bulk senders.
      </Alert>
      <Alert color="red" icon={<IconAlertTriangle size={16} aria-hidden />}>
        Sending is paused: too many bounces.
      </Alert>
      <Failed error={new Error('The service could not be reached.')} retry={() => {}} />
      <Empty
        title="No campaigns yet"
        what="A campaign sends one email to many contacts."
        action={<Button>Create campaign</Button>}
        curl={{ method: 'POST', path: '/v1/campaigns', body: { name: 'News' } }}
      />
      <Skeleton height={36} />
      <GrayRows columns={COLUMNS} caption="Campaigns" count={3} />
      <GrayCards cols={{ base: 1, xs: 2, md: 4 }} imageHeight={120} />
      <GrayLines count={3} />
      {/* As while a page loads, the gray buttons cannot be reached, because they have no names. */}
      <div inert>
        <GrayHead buttons={2} />
      </div>
      <GrayTabs count={3} />
      <GrayForm sections={1} />
      <GrayColumns aside={<GrayTimeline entries={3} />}>
        <GrayCard area={120}>
          <GrayStats count={3} hasDetail />
        </GrayCard>
        <GrayCard lines={3} />
      </GrayColumns>
    </Part>
  );
}
