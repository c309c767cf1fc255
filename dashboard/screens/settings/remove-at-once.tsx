import type { Permission } from '../../app/session.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { tellUndoable, whenDone } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';

/** A button that removes an entry of a list without confirmation, with Undo for ten seconds. */
export function RemoveAtOnce({
  needs,
  isPending,
  remove,
  putBack,
  told,
}: {
  needs: Permission;
  isPending: boolean;
  remove: () => Promise<unknown>;
  putBack: () => Promise<unknown>;
  /** Confirmation that is shown afterwards. */
  told: string;
}) {
  return (
    <ActionButton
      needs={needs}
      size="compact-sm"
      variant="light"
      color="red"
      loading={isPending}
      onClick={() => whenDone(remove(), () => tellUndoable(told, putBack))}
    >
      {text.settings.remove}
    </ActionButton>
  );
}
