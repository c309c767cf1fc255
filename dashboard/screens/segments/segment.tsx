import { Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { queryFor } from '../../api/queries.ts';
import { formatCount } from '../../parts/count-link.tsx';
import { GrayTabs } from '../../parts/gray-parts.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { RecordQuery } from '../../parts/record-query.tsx';
import { Tag } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';
import { EditSegment } from './edit-segment.tsx';
import { Explain } from './explain.tsx';
import { History } from './history.tsx';
import { GrayMembers, Members } from './members.tsx';
import { SEGMENT_TABS, type SegmentTab } from './routes.ts';
import { SegmentActions } from './segment-actions.tsx';
import { TypeBadge } from './type-badge.tsx';
import { Usage } from './usage.tsx';

const words = text.segments;
const BACK = { to: '/segments', label: words.list };

/** One segment. The open tab is in the URL. */
export function SegmentScreen() {
  const { segmentId } = useParams({ from: '/shell/segments/$segmentId' });
  const segment = useQuery(queryFor('getSegment', { params: { id: segmentId } }));
  return (
    <RecordQuery
      of={segment}
      title={text.subjects.segment}
      back={BACK}
      buttons={2}
      pending={
        <>
          <GrayTabs count={SEGMENT_TABS.length} mb="md" />
          <GrayMembers />
        </>
      }
    >
      {(loaded) => <SegmentTabs segment={loaded} />}
    </RecordQuery>
  );
}

function SegmentTabs({ segment }: { segment: ResponseOf<'getSegment'> }) {
  const { tab = 'members' } = useSearch({ from: '/shell/segments/$segmentId' });
  const navigate = useNavigate({ from: '/segments/$segmentId' });
  const open = (next: string | null) => void navigate({ search: { tab: next as SegmentTab }, replace: true });
  // A static segment has no condition, but the same form edits its name and description.
  return (
    <>
      <PageHead
        title={segment.name}
        status={
          <>
            <TypeBadge type={segment.type} />
            {segment.trackMembership && <Tag means={words.trackedMeans}>{words.tracked}</Tag>}
          </>
        }
        subtitle={
          <Text size="sm" inherit lineClamp={3}>
            {words.previewCount(segment.memberCount, formatCount(segment.memberCount))}
            {segment.description && ` · ${segment.description}`}
          </Text>
        }
        back={BACK}
        actions={<SegmentActions segment={segment} />}
      />
      <Tabs value={tab} onChange={open} keepMounted={false}>
        <Tabs.List mb="md">
          {SEGMENT_TABS.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {name === 'condition' && segment.type === 'STATIC' ? words.settings : words.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="members">
          <Members segment={segment} />
        </Tabs.Panel>
        <Tabs.Panel value="condition">
          <EditSegment key={segment.id} segment={segment} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <History segment={segment} />
        </Tabs.Panel>
        <Tabs.Panel value="explain">
          <Explain segment={segment} />
        </Tabs.Panel>
        <Tabs.Panel value="usage">
          <Usage segmentId={segment.id} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
