import { IconCopy, IconPlayerStop, IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { formatCount } from '../../parts/count-link.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifyFailure, notifySuccess, runAfterWrite } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import { CAMPAIGN_OPERATIONS, type Campaign } from './words.ts';

const words = text.campaigns;

/** The "…" menu with the rare actions on a campaign. */
export function CampaignMenu({ campaign }: { campaign: Campaign }) {
  const { items, dialog } = useCampaignMenu(campaign);
  return (
    <>
      <MoreMenu>{items}</MoreMenu>
      {dialog}
    </>
  );
}

/**
 * Returns the rare actions on a campaign: duplicate; cancel, while it sends or is paused; delete, if it is neither
 * started nor scheduled, or has ended. `dialog` confirms cancel and delete.
 */
export function useCampaignMenu(campaign: Campaign): { items: ReactNode; dialog: ReactNode } {
  const { id, status } = campaign;
  const [openDialog, setOpenDialog] = useState<'cancel' | 'remove'>();
  const { duplicate, isPending } = useDuplicate(id);
  const isStarted = status === 'SENDING' || status === 'PAUSED';
  const items = (
    <>
      <MoreItem icon={IconCopy} needs="campaigns:edit" isPending={isPending} onClick={duplicate}>
        {words.duplicate}
      </MoreItem>
      {isStarted && (
        <MoreItem icon={IconPlayerStop} needs="campaigns:send" isDestructive onClick={() => setOpenDialog('cancel')}>
          {words.cancel}
        </MoreItem>
      )}
      {!isStarted && status !== 'SCHEDULED' && (
        <MoreItem icon={IconTrash} needs="campaigns:edit" isDestructive onClick={() => setOpenDialog('remove')}>
          {words.remove}
        </MoreItem>
      )}
    </>
  );
  const dialog = (
    <>
      {openDialog === 'cancel' && <Cancel campaign={campaign} onClose={() => setOpenDialog(undefined)} />}
      {openDialog === 'remove' && <Remove campaign={campaign} onClose={() => setOpenDialog(undefined)} />}
    </>
  );
  return { items, dialog };
}

/** Copies a sent campaign as the draft of the next one. */
export function DuplicateButton({ id }: { id: string }) {
  const { duplicate, isPending } = useDuplicate(id);
  return (
    <ActionButton
      needs="campaigns:edit"
      variant="default"
      leftSection={<IconCopy size={16} aria-hidden />}
      loading={isPending}
      onClick={duplicate}
    >
      {words.duplicate}
    </ActionButton>
  );
}

/** Returns an action that copies a campaign and opens the copy. */
function useDuplicate(id: string) {
  const navigate = useNavigate();
  const copy = useWrite('duplicateCampaign', { changes: CAMPAIGN_OPERATIONS });
  const duplicate = () =>
    copy.mutate(
      { params: { id } },
      {
        onSuccess: ({ data }) => {
          notifySuccess(words.duplicated);
          void navigate({ to: '/campaigns/$campaignId/edit', params: { campaignId: data.id } });
        },
        onError: notifyFailure,
      },
    );
  return { duplicate, isPending: copy.isPending };
}

function Cancel({ campaign: { id, pendingCount }, onClose }: { campaign: Campaign; onClose: () => void }) {
  const cancel = useWrite('cancelCampaign', { changes: CAMPAIGN_OPERATIONS });
  const done = () => {
    notifySuccess(words.cancelled);
    onClose();
  };
  return (
    <ConfirmTyped
      opened
      onClose={onClose}
      title={words.cancelTitle}
      what={words.cancelHelp(words.segmentCount(pendingCount, formatCount(pendingCount)))}
      word={words.cancelWord}
      action={words.cancel}
      write={cancel}
      // The dialog shows a failure.
      onConfirm={() => runAfterWrite(cancel.mutateAsync({ params: { id } }), done, () => {})}
    />
  );
}

function Remove({ campaign: { id, updatedAt }, onClose }: { campaign: Campaign; onClose: () => void }) {
  const navigate = useNavigate();
  const remove = useWrite('deleteCampaign', { changes: ['listCampaigns'] });
  const done = () => {
    notifySuccess(words.removed);
    void navigate({ to: '/campaigns', replace: true });
  };
  return (
    <ConfirmTyped
      opened
      onClose={onClose}
      title={words.remove}
      what={words.removeHelp}
      word={words.removeWord}
      action={words.remove}
      write={remove}
      onConfirm={() => remove.mutate({ params: { id }, seenAt: updatedAt }, { onSuccess: done })}
    />
  );
}
