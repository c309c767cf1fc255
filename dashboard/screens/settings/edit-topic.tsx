import { Button, Group, Modal, Stack, Switch, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Failed } from '../../parts/failed.tsx';
import { useReturnFocus } from '../../parts/use-return-focus.ts';
import { text } from '../../text/text.ts';
import { findFieldError } from './add-form.tsx';
import { TOPICS_CHANGED, type Topic } from './topic.ts';

const words = text.settings.topics;

/** A dialog that edits a topic. */
export function EditTopic({ topic, onClose }: { topic: Topic; onClose: () => void }) {
  useReturnFocus();
  const [name, setName] = useState(topic.name);
  const [description, setDescription] = useState(topic.description ?? '');
  const [defaultSubscribed, setDefault] = useState(topic.defaultSubscribed);
  const update = useWrite('updateTopic', { changes: TOPICS_CHANGED });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = { name: name.trim(), description: description.trim() || null, defaultSubscribed };
    update.mutate({ params: { id: topic.id }, body }, { onSuccess: onClose });
  };
  return (
    <Modal opened onClose={onClose} title={topic.name} closeButtonProps={{ 'aria-label': text.app.close }}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={words.name}
            required
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={findFieldError(update.error, 'name')}
            data-autofocus
          />
          <TextInput
            label={words.description}
            description={words.descriptionHelp}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
            error={findFieldError(update.error, 'description')}
          />
          <Switch
            label={words.byDefault}
            checked={defaultSubscribed}
            onChange={(event) => setDefault(event.currentTarget.checked)}
          />
          {update.error && update.error.fields.length === 0 && <Failed error={update.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {text.parts.cancel}
            </Button>
            <ActionButton needs="contacts:edit" type="submit" loading={update.isPending} disabled={name.trim() === ''}>
              {text.settings.save}
            </ActionButton>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
