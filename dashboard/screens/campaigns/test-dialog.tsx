import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { ignoreDoubleClick } from '../../parts/action-button.tsx';
import { Failed } from '../../parts/failed.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { useReturnFocus } from '../../parts/use-return-focus.ts';
import { text } from '../../text/text.ts';
import type { Editing } from './editing.ts';

const words = text.campaigns;

/** Saves the campaign, and sends its main email or one of its variants to one address. */
export function TestDialog({
  campaign,
  draft,
  save,
  isUnsaved,
  isSaving,
  onClose,
}: Pick<Editing, 'campaign' | 'draft' | 'save' | 'isUnsaved' | 'isSaving'> & { onClose: () => void }) {
  useReturnFocus();
  const { email } = useSession();
  const [to, setTo] = useState(email);
  const [variant, setVariant] = useState<string | null>(null);
  const write = useWrite('testCampaign', { changes: [] });
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (isUnsaved && !(await save())) return onClose();
    write.mutate(
      { params: { id: campaign.id }, body: { email: to, ...(variant !== null && { variant }) } },
      {
        onSuccess: () => {
          notifySuccess(words.testSent(to));
          onClose();
        },
      },
    );
  };
  return (
    <Modal opened onClose={onClose} title={words.test} closeButtonProps={{ 'aria-label': text.app.close }}>
      <form onSubmit={(event) => void send(event)}>
        <Stack>
          <TextInput
            label={words.testTo}
            inputMode="email"
            value={to}
            onChange={(event) => setTo(event.currentTarget.value)}
            required
            data-autofocus
          />
          {draft.variants.length > 0 && (
            <Select
              label={words.testVariant}
              placeholder={words.mainContent}
              data={draft.variants.map(({ name }) => name)}
              value={variant}
              onChange={setVariant}
              clearable
              clearButtonProps={{ 'aria-label': words.mainContent }}
            />
          )}
          {write.error && <Failed error={write.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {text.parts.cancel}
            </Button>
            <Button type="submit" loading={write.isPending || isSaving} onClick={ignoreDoubleClick()}>
              {words.sendTest}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
