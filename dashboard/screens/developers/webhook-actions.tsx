import { Button, Menu } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronDown, IconPlayerPause, IconRefresh, IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { ActionButton, useMissingPermissionText } from '../../parts/action-button.tsx';
import { useAsCodeItem } from '../../parts/as-code.tsx';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifySuccess, notifyWithUndo, runAfterWrite } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import { SecretDialog } from './secret-dialog.tsx';

const words = text.developers.webhooks;
const HOUR_MS = 3_600_000;
const ENDPOINT = ['getWebhook', 'listWebhooks'] as const;
const SPANS = ['1', '24', '168'] as const;
const NEEDS = 'workflows:edit';

/** Actions on an endpoint: enable or disable it, replay failed deliveries, rotate its secret, delete it. */
export function WebhookActions({ endpoint }: { endpoint: ResponseOf<'getWebhook'> }) {
  const params = { id: endpoint.id };
  const update = useWrite('updateWebhook', { changes: ENDPOINT });
  const enable = (enabled: boolean, isUndo = false) =>
    runAfterWrite(update.mutateAsync({ params, body: { enabled } }), () => {
      const message = enabled ? words.enabled : words.disabled;
      if (isUndo) notifySuccess(message);
      else notifyWithUndo(message, () => enable(!enabled, true));
    });
  return (
    <>
      <Replay endpointId={endpoint.id} />
      {!endpoint.enabled && (
        <ActionButton needs={NEEDS} loading={update.isPending} onClick={() => enable(true)}>
          {words.enable}
        </ActionButton>
      )}
      <Menus
        endpointId={endpoint.id}
        onDisable={endpoint.enabled ? () => enable(false) : undefined}
        isDisabling={update.isPending}
      />
    </>
  );
}

function Menus({
  endpointId,
  onDisable,
  isDisabling,
}: {
  endpointId: string;
  /** Undefined if the endpoint is disabled. */
  onDisable: (() => void) | undefined;
  isDisabling: boolean;
}) {
  const code = useAsCodeItem({ method: 'GET', path: `/v1/webhooks/${endpointId}/deliveries` });
  const [isRotateOpen, rotateDialog] = useDisclosure();
  const [isRemoveOpen, removeDialog] = useDisclosure();
  return (
    <>
      <MoreMenu>
        <MoreItem icon={IconRefresh} needs={NEEDS} onClick={rotateDialog.open}>
          {words.rotate}
        </MoreItem>
        {code.item}
        {onDisable && (
          <MoreItem icon={IconPlayerPause} needs={NEEDS} isPending={isDisabling} onClick={onDisable}>
            {words.disable}
          </MoreItem>
        )}
        <MoreItem icon={IconTrash} needs={NEEDS} isDestructive onClick={removeDialog.open}>
          {words.remove}
        </MoreItem>
      </MoreMenu>
      {code.dialog}
      <Rotate endpointId={endpointId} opened={isRotateOpen} onClose={rotateDialog.close} />
      <Remove endpointId={endpointId} opened={isRemoveOpen} onClose={removeDialog.close} />
    </>
  );
}

interface Dialog {
  endpointId: string;
  opened: boolean;
  onClose: () => void;
}

function Replay({ endpointId }: { endpointId: string }) {
  const whyNot = useMissingPermissionText(NEEDS);
  const replay = useWrite('replayWebhookDeliveries', { changes: ['listWebhookDeliveries'] });
  const from = (hours: number) => {
    const since = new Date(Date.now() - hours * HOUR_MS).toISOString();
    const input = { params: { id: endpointId }, body: { since, status: 'FAILED' as const } };
    runAfterWrite(replay.mutateAsync(input), ({ replayed, nextSince }) =>
      notifySuccess(words.replayed(replayed, nextSince !== null)),
    );
  };
  if (whyNot) {
    return (
      <ActionButton needs={NEEDS} variant="default">
        {words.replay}
      </ActionButton>
    );
  }
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" loading={replay.isPending} rightSection={<IconChevronDown size={14} aria-hidden />}>
          {words.replay}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {SPANS.map((hours) => (
          <Menu.Item key={hours} onClick={() => from(Number(hours))}>
            {words.replayFailed[hours]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function Rotate({ endpointId, opened, onClose }: Dialog) {
  const rotate = useWrite('rotateWebhookSecret', { changes: ENDPOINT });
  const end = () => {
    rotate.reset();
    onClose();
  };
  return (
    <>
      <ConfirmTyped
        opened={opened && !rotate.data}
        onClose={end}
        title={words.rotateTitle}
        what={words.rotateHelp}
        word="replace"
        action={words.rotate}
        write={rotate}
        onConfirm={() => rotate.mutate({ params: { id: endpointId } })}
      />
      <SecretDialog
        opened={opened && rotate.data !== undefined}
        onClose={end}
        title={words.createdTitle}
        createdTitle={words.createdTitle}
        operation="rotateWebhookSecret"
        secret={rotate.data?.secret}
      />
    </>
  );
}

function Remove({ endpointId, opened, onClose }: Dialog) {
  const navigate = useNavigate();
  const remove = useWrite('deleteWebhook', { changes: ['listWebhooks'] });
  const done = () => {
    notifySuccess(words.removed);
    void navigate({ to: '/developers/webhooks' });
  };
  return (
    <ConfirmTyped
      opened={opened}
      onClose={onClose}
      title={words.removeTitle}
      what={words.removeHelp}
      word={words.removeWord}
      action={words.remove}
      write={remove}
      onConfirm={() => remove.mutate({ params: { id: endpointId } }, { onSuccess: done })}
    />
  );
}
