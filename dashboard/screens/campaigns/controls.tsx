import { useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { notifySuccess, runAfterWrite } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import { CAMPAIGN_OPERATIONS, type Campaign } from './words.ts';

const words = text.campaigns;

/** Buttons that pause and resume a campaign, and cancel its schedule. */
export function CampaignControls({ campaign: { id, status } }: { campaign: Campaign }) {
  const pause = useWrite('pauseCampaign', { changes: CAMPAIGN_OPERATIONS });
  const resume = useWrite('resumeCampaign', { changes: CAMPAIGN_OPERATIONS });
  const cancel = useWrite('cancelCampaign', { changes: CAMPAIGN_OPERATIONS });
  const input = { params: { id } };
  return (
    <>
      {status === 'SENDING' && (
        <ActionButton
          needs="campaigns:send"
          variant="default"
          loading={pause.isPending}
          onClick={() => runAfterWrite(pause.mutateAsync(input), () => notifySuccess(words.paused))}
        >
          {words.pause}
        </ActionButton>
      )}
      {status === 'PAUSED' && (
        <ActionButton
          needs="campaigns:send"
          loading={resume.isPending}
          onClick={() => runAfterWrite(resume.mutateAsync(input), () => notifySuccess(words.resumed))}
        >
          {words.resume}
        </ActionButton>
      )}
      {status === 'SCHEDULED' && (
        <ActionButton
          needs="campaigns:send"
          variant="default"
          loading={cancel.isPending}
          onClick={() => runAfterWrite(cancel.mutateAsync(input), () => notifySuccess(words.unscheduled))}
        >
          {words.unschedule}
        </ActionButton>
      )}
    </>
  );
}
