import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlayerPause } from '@tabler/icons-react';
import type { ResponseOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import { NoteForm } from './note-form.tsx';

const words = text.operator;
const CHANGES = ['getTenant', 'listTenants', 'getMe'] as const;

/**
 * Holds a project with a reason, and releases it with a note. Each action undoes the other, so the user need not type
 * a word to confirm.
 */
export function HoldActions({ tenant }: { tenant: ResponseOf<'getTenant'> }) {
  const [isHoldOpen, holdDialog] = useDisclosure();
  const [isReleaseOpen, releaseDialog] = useDisclosure();
  const { id, name, operatorHold, ownHold } = tenant;
  const params = { id };
  const holdWrite = useWrite('holdTenant', { changes: CHANGES });
  const releaseWrite = useWrite('releaseTenant', { changes: CHANGES });
  return (
    <>
      {operatorHold.held && <Button onClick={releaseDialog.open}>{words.releaseIt}</Button>}
      <MoreMenu>
        <MoreItem icon={IconPlayerPause} isDestructive={!operatorHold.held} onClick={holdDialog.open}>
          {operatorHold.held ? words.changeReason : words.hold}
        </MoreItem>
      </MoreMenu>
      <NoteForm
        opened={isHoldOpen}
        onClose={holdDialog.close}
        title={words.holdTitle(name)}
        what={words.holdHelp}
        label={words.reason}
        initialNote={operatorHold.reason ?? ''}
        required
        action={words.hold.replace(' …', '')}
        color="red"
        write={holdWrite}
        onSubmit={(reason) =>
          holdWrite.mutate(
            { params, body: { reason } },
            {
              onSuccess: () => {
                holdDialog.close();
                notifySuccess(words.held(name));
              },
            },
          )
        }
      />
      <NoteForm
        opened={isReleaseOpen}
        onClose={releaseDialog.close}
        title={words.releaseTitle(name)}
        what={ownHold.held ? words.releaseWhatOwn : words.releaseHelp}
        label={words.note}
        initialNote=""
        action={words.releaseIt.replace(' …', '')}
        write={releaseWrite}
        onSubmit={(note) =>
          releaseWrite.mutate(
            { params, body: note === '' ? {} : { note } },
            {
              onSuccess: () => {
                releaseDialog.close();
                notifySuccess(words.released(name));
              },
            },
          )
        }
      />
    </>
  );
}
