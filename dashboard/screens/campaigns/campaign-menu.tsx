import { ActionIcon, Menu } from '@mantine/core';
import { IconCopy, IconDots, IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { useWhyNot } from '../../parts/action-button.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { tellDone, tellFailure } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';
import { CAMPAIGN_OPERATIONS, type Campaign } from './words.ts';

const words = text.campaigns;

/** Rare actions on a campaign: duplicate and delete. */
export function CampaignMenu({ campaign: { id, status, updatedAt } }: { campaign: Campaign }) {
  const navigate = useNavigate();
  const [asks, setAsks] = useState(false);
  const whyNot = useWhyNot('campaigns:edit');
  const copy = useWrite('duplicateCampaign', { changes: CAMPAIGN_OPERATIONS });
  const remove = useWrite('deleteCampaign', { changes: ['listCampaigns'] });
  const isOpen = status === 'SCHEDULED' || status === 'SENDING' || status === 'PAUSED';
  const duplicate = () =>
    copy.mutate(
      { params: { id } },
      {
        onSuccess: ({ data }) => {
          tellDone(words.duplicated);
          void navigate({ to: '/campaigns/$campaignId/edit', params: { campaignId: data.id } });
        },
        onError: tellFailure,
      },
    );
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={text.app.menu}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconCopy size={16} aria-hidden />}
            onClick={duplicate}
            disabled={whyNot !== undefined || copy.isPending}
            title={whyNot}
          >
            {words.duplicate}
          </Menu.Item>
          <Menu.Item
            color="red"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => setAsks(true)}
            disabled={whyNot !== undefined || isOpen}
            title={whyNot}
          >
            {words.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asks && (
        <ConfirmTyped
          opened
          onClose={() => setAsks(false)}
          title={words.remove}
          what={words.removeWhat}
          word={words.removeWord}
          action={words.remove}
          isPending={remove.isPending}
          error={remove.error}
          onConfirm={() =>
            remove.mutate(
              { params: { id }, seenAt: updatedAt },
              {
                onSuccess: () => {
                  tellDone(words.removed);
                  void navigate({ to: '/campaigns', replace: true });
                },
              },
            )
          }
        />
      )}
    </>
  );
}
