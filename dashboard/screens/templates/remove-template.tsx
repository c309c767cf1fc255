import { useWrite } from '../../api/queries.ts';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';

const WORD_MAX_CHARS = 40;

/** Asks for the name before a template is deleted permanently. */
export function RemoveTemplate({
  id,
  name,
  updatedAt,
  opened,
  onClose,
  onRemoved,
}: {
  id: string;
  name: string;
  updatedAt: string;
  opened: boolean;
  onClose: () => void;
  onRemoved?: () => void;
}) {
  const remove = useWrite('deleteTemplate', { changes: ['listTemplates'] });
  return (
    <ConfirmTyped
      opened={opened}
      onClose={onClose}
      title={text.templates.removeTitle}
      what={text.templates.removeHelp}
      // A name may be long, so typing its start is enough.
      word={name.trim().slice(0, WORD_MAX_CHARS).trim()}
      action={text.templates.remove}
      write={remove}
      onConfirm={() =>
        remove.mutate(
          { params: { id }, seenAt: updatedAt },
          {
            onSuccess: () => {
              notifySuccess(text.templates.removed(name));
              onClose();
              onRemoved?.();
            },
          },
        )
      }
    />
  );
}
