import { useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { tellDone, whenDone } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';
import { CAMPAIGN_OPERATIONS, type Campaign } from './words.ts';

const words = text.campaigns;

/** Buttons that pause and resume a campaign. */
export function Controls({ campaign: { id, status, pendingCount } }: { campaign: Campaign }) {
  const [asks, setAsks] = useState(false);
  const pause = useWrite('pauseCampaign', { changes: CAMPAIGN_OPERATIONS });
  const resume = useWrite('resumeCampaign', { changes: CAMPAIGN_OPERATIONS });
  const cancel = useWrite('cancelCampaign', { changes: CAMPAIGN_OPERATIONS });
  const input = { params: { id } };
  const end = () =>
    whenDone(cancel.mutateAsync(input), ({ data }) => {
      setAsks(false);
      tellDone(data.status === 'DRAFT' ? words.unscheduled : words.cancelled);
    });
  return (
    <>
      {status === 'SENDING' && (
        <ActionButton
          needs="campaigns:send"
          variant="default"
          loading={pause.isPending}
          onClick={() => whenDone(pause.mutateAsync(input), () => tellDone(words.paused))}
        >
          {words.pause}
        </ActionButton>
      )}
      {status === 'PAUSED' && (
        <ActionButton
          needs="campaigns:send"
          loading={resume.isPending}
          onClick={() => whenDone(resume.mutateAsync(input), () => tellDone(words.resumed))}
        >
          {words.resume}
        </ActionButton>
      )}
      {status === 'SCHEDULED' && (
        <ActionButton needs="campaigns:send" variant="default" loading={cancel.isPending} onClick={end}>
          {words.unschedule}
        </ActionButton>
      )}
      {(status === 'SENDING' || status === 'PAUSED') && (
        <ActionButton needs="campaigns:send" variant="default" color="red" onClick={() => setAsks(true)}>
          {words.cancel}
        </ActionButton>
      )}
      {asks && (
        <ConfirmTyped
          opened
          onClose={() => setAsks(false)}
          title={words.cancelTitle}
          what={words.cancelWhat(words.segmentCount(pendingCount, formatCount(pendingCount)))}
          word={words.cancelWord}
          action={words.cancel}
          onConfirm={end}
          isPending={cancel.isPending}
          error={cancel.error}
        />
      )}
    </>
  );
}
