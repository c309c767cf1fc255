import { Select, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { text } from '../../text/text.ts';
import { TEMPLATE_TYPES, type TemplateType } from './routes.ts';
import type { TemplateForm } from './template-fields.ts';

/** Name, type and reply address of a template, beside its content. */
export function TemplateSettings({
  fields,
  change,
  isReadOnly,
}: {
  fields: TemplateForm;
  change: (changed: Partial<TemplateForm>) => void;
  isReadOnly: boolean;
}) {
  const input = (name: 'name' | 'description' | 'replyTo') => ({
    label: text.templates[name],
    value: fields[name],
    readOnly: isReadOnly,
    onChange: (event: { currentTarget: { value: string } }) => change({ [name]: event.currentTarget.value }),
  });
  return (
    <>
      <Title order={2} size="h5">
        {text.emailEditor.details}
      </Title>
      <TextInput {...input('name')} required maxLength={200} />
      <TextInput {...input('description')} maxLength={1000} />
      <TextInput {...input('replyTo')} placeholder={text.emailEditor.replyToHint} inputMode="email" />
      <Select
        label={text.templates.type}
        description={text.templates.typeMeans[fields.type]}
        data={TEMPLATE_TYPES.map((value) => ({ value, label: text.templates.types[value] }))}
        value={fields.type}
        onChange={(value) => value && change({ type: value as TemplateType })}
        allowDeselect={false}
        readOnly={isReadOnly}
      />
      {fields.type === 'MARKETING' && <TopicChoice fields={fields} change={change} isReadOnly={isReadOnly} />}
    </>
  );
}

function TopicChoice({ fields, change, isReadOnly }: Parameters<typeof TemplateSettings>[0]) {
  const { can } = useSession();
  const topics = useQuery({ ...queryFor('listTopics', { query: { limit: 100 } }), enabled: can('contacts:view') });
  return (
    <Select
      label={text.templates.topic}
      description={text.templates.topicHint}
      placeholder={text.templates.noTopic}
      data={(topics.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      value={fields.topicId === '' ? null : fields.topicId}
      onChange={(value) => change({ topicId: value ?? '' })}
      clearable
      clearButtonProps={{ 'aria-label': text.templates.noTopic }}
      readOnly={isReadOnly}
    />
  );
}
