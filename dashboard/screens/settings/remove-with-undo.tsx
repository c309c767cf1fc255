import { IconTrash } from '@tabler/icons-react';
import type { Permission } from '../../app/session.ts';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifyWithUndo, runAfterWrite } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';

/** The menu of a row that removes the entry without confirmation, with Undo for ten seconds. */
export function RemoveWithUndo({
  of,
  needs,
  isPending,
  remove,
  restore,
  message,
}: {
  /** The name of the entry. */
  of: string;
  needs: Permission;
  isPending: boolean;
  remove: () => Promise<unknown>;
  restore: () => Promise<unknown>;
  /** The notification after the removal. */
  message: string;
}) {
  return (
    <MoreMenu of={of}>
      <MoreItem
        icon={IconTrash}
        needs={needs}
        isPending={isPending}
        isDestructive
        onClick={() => runAfterWrite(remove(), () => notifyWithUndo(message, restore))}
      >
        {text.settings.remove}
      </MoreItem>
    </MoreMenu>
  );
}
