import { Modal, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { text } from '../../text/text.ts';
import { useReturnFocus } from '../use-return-focus.ts';
import { PreviewPane } from './preview-pane.tsx';
import { type EditedEmail, usePreview } from './use-preview.ts';

/** Shows an email as a contact will see it. `children` are above it, such as a choice of variants. */
export function PreviewDialog({
  email,
  onClose,
  children,
}: {
  email: EditedEmail;
  onClose: () => void;
  children?: ReactNode;
}) {
  useReturnFocus();
  const [contactId, setContactId] = useState<string | null>(null);
  const preview = usePreview(email, contactId);
  return (
    <Modal
      opened
      onClose={onClose}
      size={820}
      title={text.emailEditor.preview}
      closeButtonProps={{ 'aria-label': text.app.close }}
    >
      <Stack>
        {children}
        <PreviewPane preview={preview} contactId={contactId} onContact={setContactId} />
      </Stack>
    </Modal>
  );
}
