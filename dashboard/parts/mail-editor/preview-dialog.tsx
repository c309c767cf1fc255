import { Modal, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { text } from '../../text/text.ts';
import { PreviewPane } from './preview-pane.tsx';
import { type EditedMail, usePreview } from './use-preview.ts';

/** Shows an email as a contact will see it. `children` are above it, such as a choice of variants. */
export function PreviewDialog({
  mail,
  onClose,
  children,
}: {
  mail: EditedMail;
  onClose: () => void;
  children?: ReactNode;
}) {
  const [contactId, setContactId] = useState<string | null>(null);
  const preview = usePreview(mail, contactId);
  return (
    <Modal
      opened
      onClose={onClose}
      size={820}
      title={text.mailEditor.preview}
      closeButtonProps={{ 'aria-label': text.app.close }}
    >
      <Stack>
        {children}
        <PreviewPane preview={preview} contactId={contactId} onContact={setContactId} />
      </Stack>
    </Modal>
  );
}
