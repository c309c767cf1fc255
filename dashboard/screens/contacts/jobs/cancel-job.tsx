import { useDisclosure } from '@mantine/hooks';
import type { ItemOf } from '../../../api/queries.ts';
import { useWrite } from '../../../api/queries.ts';
import { ActionButton } from '../../../parts/action-button.tsx';
import { ConfirmTyped } from '../../../parts/confirm-typed.tsx';
import { notifySuccess, runAfterWrite } from '../../../parts/notifications.tsx';
import { text } from '../../../text/text.ts';

const words = text.contacts.jobs;

/** Cancels a running job after the user typed a word. Finished parts are not undone. */
export function CancelJob({ job: { id, kind } }: { job: Pick<ItemOf<'listContactJobs'>, 'id' | 'kind'> }) {
  const [isConfirmOpen, confirmDialog] = useDisclosure();
  const cancel = useWrite('cancelContactJob', { changes: ['getImportJob', 'getBulkJob', 'listContactJobs'] });
  const confirm = () =>
    runAfterWrite(cancel.mutateAsync({ params: { jobId: id } }), ({ processed, total }) => {
      confirmDialog.close();
      notifySuccess(words.cancelled(processed, total));
    });
  return (
    <>
      <ActionButton needs="contacts:edit" variant="default" onClick={confirmDialog.open}>
        {words.cancel}
      </ActionButton>
      <ConfirmTyped
        opened={isConfirmOpen}
        onClose={confirmDialog.close}
        title={words.cancelTitle(words.kinds[kind])}
        what={words.cancelHelp}
        word={words.cancelWord}
        action={words.cancel}
        onConfirm={confirm}
        write={cancel}
      />
    </>
  );
}
