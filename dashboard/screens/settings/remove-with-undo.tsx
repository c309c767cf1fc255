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
  putBack,
  message,
}: {
  /** The name of the entry. */
  of: string;
  needs: Permission;
  isPending: boolean;
  remove: () => Promise<unknown>;
  putBack: () => Promise<unknown>;
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
        onClick={() => runAfterWrite(remove(), () => notifyWithUndo(message, putBack))}
      >
        {text.settings.remove}
      </MoreItem>
    </MoreMenu>
  );
}
