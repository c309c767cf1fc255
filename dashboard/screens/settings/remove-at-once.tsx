import type { Permission } from '../../app/session.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { tellUndoable, whenDone } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';

/** A button that takes an entry of a list off without asking; for ten seconds it can be put back, as it was. */
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
