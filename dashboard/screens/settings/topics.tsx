import { Switch, Text, TextInput } from '@mantine/core';
import { IconBookmarks, IconPencil, IconTrash } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { infiniteQueryFor, useWrite } from '../../api/queries.ts';
import { ConfirmTyped } from '../../parts/confirm-typed.tsx';
import { CursorTable } from '../../parts/cursor-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { MoreItem, MoreMenu } from '../../parts/more-menu.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import type { Column } from '../../parts/row-table.tsx';
import { text } from '../../text/text.ts';
import { AddForm, findFieldError } from './add-form.tsx';
import { EditTopic } from './edit-topic.tsx';
import { TOPICS_CHANGED, type Topic } from './topic.ts';

const words = text.settings.topics;

/** Topics of marketing email, to which contacts subscribe individually. */
export function Topics() {
  const pages = useInfiniteQuery(infiniteQueryFor('listTopics', { query: { limit: 50 } }));
  const [topicToEdit, setTopicToEdit] = useState<Topic>();
  const [topicToRemove, setTopicToRemove] = useState<Topic>();
  const columns: Column<Topic>[] = [
    {
      name: words.name,
      isMain: true,
      cell: ({ name, description }) => (
        <div className="name-cell">
          <Text span inherit fw={500} truncate title={name}>
            {name}
          </Text>
          {description && (
            <Text span inherit c="dimmed" truncate title={description}>
              {description}
            </Text>
          )}
        </div>
      ),
    },
    {
      name: words.byDefault,
      cell: ({ defaultSubscribed }) => (defaultSubscribed ? words.yes : words.no),
      width: 290,
      wideOnly: true,
    },
    {
      name: text.settings.edit,
      hidesName: true,
      align: 'right',
      width: 48,
      isWhole: true,
      cell: (topic) => (
        <MoreMenu of={topic.name}>
          <MoreItem icon={IconPencil} needs="contacts:edit" onClick={() => setTopicToEdit(topic)}>
            {text.settings.edit}
          </MoreItem>
          <MoreItem icon={IconTrash} needs="contacts:edit" isDestructive onClick={() => setTopicToRemove(topic)}>
            {text.settings.remove}
          </MoreItem>
        </MoreMenu>
      ),
    },
  ];
  return (
    <>
      <PageHead title={text.settings.sections.topics} subtitle={words.what} />
      <Add />
      <CursorTable
        pages={pages}
        columns={columns}
        rowKey={({ id }) => id}
        caption={text.settings.sections.topics}
        empty={
          <Empty
            icon={IconBookmarks}
            title={words.emptyTitle}
            what={words.emptyHelp}
            curl={{ method: 'POST', path: '/v1/topics', body: { name: 'Product news' } }}
          />
        }
      />
      {topicToEdit && <EditTopic topic={topicToEdit} onClose={() => setTopicToEdit(undefined)} />}
      {topicToRemove && <RemoveTopic topic={topicToRemove} onClose={() => setTopicToRemove(undefined)} />}
    </>
  );
}

function Add() {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [isDefault, setDefault] = useState(true);
  const create = useWrite('createTopic', { changes: TOPICS_CHANGED });
  const submit = () => {
    const body = { name: name.trim(), description: description.trim() || null, defaultSubscribed: isDefault };
    const empty = () => {
      setName('');
      setDescription('');
    };
    create.mutate({ body }, { onSuccess: empty });
  };
  return (
    <AddForm needs="contacts:edit" action={words.add} write={create} isReady={name.trim() !== ''} onSubmit={submit}>
      <TextInput
        label={words.name}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={findFieldError(create.error, 'name')}
        flex="1 1 160px"
      />
      <TextInput
        label={words.description}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
        error={findFieldError(create.error, 'description')}
        flex="2 1 200px"
      />
      <Switch
        label={words.byDefault}
        checked={isDefault}
        onChange={(event) => setDefault(event.currentTarget.checked)}
        mt={{ sm: 29 }}
        w={{ base: '100%', sm: 'auto' }}
      />
    </AddForm>
  );
}

function RemoveTopic({ topic: { id, name, slug }, onClose }: { topic: Topic; onClose: () => void }) {
  const remove = useWrite('deleteTopic', { changes: TOPICS_CHANGED });
  const done = () => {
    notifySuccess(words.removed(name));
    onClose();
  };
  return (
    <ConfirmTyped
      opened
      onClose={onClose}
      title={words.removeTitle}
      what={words.removeHelp(name)}
      word={slug}
      action={text.settings.remove}
      write={remove}
      onConfirm={() => remove.mutate({ params: { id } }, { onSuccess: done })}
    />
  );
}
