import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { PageHead } from '../../parts/page-head.tsx';
import { withoutLiquid } from '../../parts/without-liquid.ts';
import { WordBadge } from '../../parts/word-badge.tsx';
import { text } from '../../text/text.ts';
import { useSegments } from './choices.ts';
import { SendingTimes } from './progress.tsx';
import type { Campaign } from './words.ts';

const words = text.campaigns;
export const BACK_TO_CAMPAIGNS = { to: '/campaigns', label: words.title };

/** The header of a started or scheduled campaign, the same on its report and its recipients. */
export function CampaignHead({ campaign, actions }: { campaign: Campaign; actions: ReactNode }) {
  const { name, subject, status, startedAt } = campaign;
  return (
    <PageHead
      title={name}
      back={BACK_TO_CAMPAIGNS}
      status={<WordBadge kind="campaign" value={status} />}
      subtitle={
        <Text size="sm" inherit lineClamp={3}>
          <SendingTimes campaign={campaign} />
          {startedAt !== null && ' · '}
          <Audience campaign={campaign} />
          {` · ${campaign.from} · ${withoutLiquid(subject)}`}
        </Text>
      }
      actions={actions}
    />
  );
}

/** The audience in words: all contacts, a segment by its name, or a filter. */
function Audience({ campaign: { audienceType, segmentId } }: { campaign: Campaign }) {
  const segment = useSegments(audienceType === 'SEGMENT').find(({ id }) => id === segmentId);
  return (
    <>
      {words.audienceTypes[audienceType]}
      {segment && `: ${segment.name}`}
    </>
  );
}
