import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useClipboard, useDisclosure } from '@mantine/hooks';
import { IconCopy, IconDownload, IconMail, IconPencil, IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { getOperationUrl } from '../../../api/client.ts';
import { useWrite } from '../../../api/queries.ts';
import { ActionButton } from '../../../parts/action-button.tsx';
import { ConfirmTyped } from '../../../parts/confirm-typed.tsx';
import { Failed } from '../../../parts/failed.tsx';
import { MoreItem, MoreMenu } from '../../../parts/more-menu.tsx';
import { notifySuccess, notifyWithUndo } from '../../../parts/notifications.tsx';
import { text } from '../../../text/text.ts';
import { CONTACT_CHANGED } from './contact-changed.ts';
import type { Contact } from './contact-type.ts';
import { SendEmail } from './send-email.tsx';

const words = text.contacts.page;

/** Actions on a whole contact. */
export function ContactActions({ contact }: { contact: Contact }) {
  const [isSendOpen, sendDialog] = useDisclosure();
  const [isEraseOpen, eraseDialog] = useDisclosure();
  const [isRenameOpen, renameDialog] = useDisclosure();
  const clipboard = useClipboard();
  const copy = () => {
    clipboard.copy(contact.id);
    notifySuccess(text.parts.copied);
  };
  return (
    <>
      <ActionButton needs="email:send" leftSection={<IconMail size={16} aria-hidden />} onClick={sendDialog.open}>
        {words.send}
      </ActionButton>
      <MoreMenu>
        <MoreItem icon={IconPencil} needs="contacts:edit" onClick={renameDialog.open}>
          {words.changeEmail}
        </MoreItem>
        <MoreItem icon={IconCopy} onClick={copy}>
          {words.id}
        </MoreItem>
        <MoreItem icon={IconDownload} href={getOperationUrl('exportContact', { params: { id: contact.id } })}>
          {words.export}
          <Text size="xs" c="dimmed">
            {words.exportHelp}
          </Text>
        </MoreItem>
        <MoreItem icon={IconTrash} needs="contacts:edit" isDestructive onClick={eraseDialog.open}>
          {words.erase}
        </MoreItem>
      </MoreMenu>
      <SendEmail contact={contact} opened={isSendOpen} onClose={sendDialog.close} />
      <Erase contact={contact} opened={isEraseOpen} onClose={eraseDialog.close} />
      <Modal
        opened={isRenameOpen}
        onClose={renameDialog.close}
        title={words.changeEmail}
        closeButtonProps={{ 'aria-label': text.app.close }}
      >
        <ChangeEmail contact={contact} onClose={renameDialog.close} />
      </Modal>
    </>
  );
}

function Erase({
  contact: { id, email },
  opened,
  onClose,
}: {
  contact: Contact;
  opened: boolean;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const erase = useWrite('deleteContact', { changes: ['listContacts', 'listSegments', 'listSegmentContacts'] });
  return (
    <ConfirmTyped
      opened={opened}
      onClose={onClose}
      title={words.eraseTitle}
      what={words.eraseHelp}
      word={email}
      action={words.erase}
      write={erase}
      onConfirm={() =>
        erase.mutate(
          { params: { id } },
          {
            onSuccess: () => {
              notifySuccess(words.erased);
              void navigate({ to: '/contacts' });
            },
          },
        )
      }
    />
  );
}

function ChangeEmail({ contact: { id, email }, onClose }: { contact: Contact; onClose: () => void }) {
  const [typed, setTyped] = useState(email);
  const save = useWrite('updateContact', { changes: CONTACT_CHANGED });
  const undo = useWrite('updateContact', { changes: CONTACT_CHANGED });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(
      { params: { id }, body: { email: typed.trim() } },
      {
        onSuccess: () => {
          onClose();
          notifyWithUndo(words.emailSaved, () => undo.mutateAsync({ params: { id }, body: { email } }));
        },
      },
    );
  };
  const fault = save.error?.fields.find(({ field }) => field === 'email')?.message;
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={words.newEmail}
          inputMode="email"
          required
          data-autofocus
          value={typed}
          error={fault}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        {save.error && !fault && <Failed error={save.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {text.parts.cancel}
          </Button>
          <Button type="submit" loading={save.isPending} disabled={typed.trim() === '' || typed.trim() === email}>
            {words.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
