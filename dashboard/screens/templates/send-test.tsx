import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { ignoreDoubleClick } from '../../parts/action-button.tsx';
import { Failed } from '../../parts/failed.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import type { TemplateForm } from './template-fields.ts';

/** Sends the current text to one address, by default the user's own. */
export function SendTest({ fields, opened, onClose }: { fields: TemplateForm; opened: boolean; onClose: () => void }) {
  const { email: myEmail } = useSession();
  const [email, setEmail] = useState(myEmail);
  const send = useWrite('testTemplate', { changes: ['listEmails'] });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { subject, body, preheader, from, fromName, replyTo } = fields;
    send.mutate(
      {
        body: {
          email,
          subject,
          body,
          from: from.trim(),
          ...(preheader && { preheader }),
          ...(fromName && { fromName }),
          ...(replyTo && { replyTo }),
        },
      },
      {
        onSuccess: () => {
          notifySuccess(text.templates.testSent(email));
          onClose();
        },
      },
    );
  };
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={text.templates.test}
      closeButtonProps={{ 'aria-label': text.app.close }}
    >
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{text.templates.testHelp}</Text>
          <TextInput
            label={text.templates.testTo}
            inputMode="email"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            required
            data-autofocus
          />
          {send.error && <Failed error={send.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {text.parts.cancel}
            </Button>
            <Button type="submit" loading={send.isPending} onClick={ignoreDoubleClick()}>
              {text.templates.testSend}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
