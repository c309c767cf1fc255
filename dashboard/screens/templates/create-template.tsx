import { Input, Modal, Radio, Stack, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { LayoutGallery } from '../../parts/email-editor/layout-gallery.tsx';
import { createLayoutContent, type TemplateLayout } from '../../parts/email-editor/layouts.ts';
import { useVerifiedDomains } from '../../parts/use-verified-domains.ts';
import { text } from '../../text/text.ts';
import { TEMPLATE_TYPES, type TemplateType } from './routes.ts';

const NAME_MAX_CHARS = 200;

/** Asks for the name, type and layout of a new template, creates it, and opens it. */
export function CreateTemplate({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [name, setName] = useState('');
  const [type, setType] = useState<TemplateType>('TRANSACTIONAL');
  const [layout, setLayout] = useState<TemplateLayout>('letter');
  // Sets a default sender, because an automation cannot send a template without one. The user can change it later.
  const domains = useVerifiedDomains({ enabled: opened });
  const domain = domains?.[0];
  const navigate = useNavigate();
  const create = useWrite('createTemplate', { changes: ['listTemplates'] });
  const submit = () =>
    create.mutate(
      { body: { name, type, ...createLayoutContent(layout), ...(domain && { from: `hello@${domain}` }) } },
      {
        onSuccess: ({ id }) => {
          onClose();
          void navigate({ to: '/templates/$templateId', params: { templateId: id } });
        },
      },
    );
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      size={560}
      title={text.templates.createTitle}
      closeButtonProps={{ 'aria-label': text.app.close }}
    >
      <DialogForm
        action={text.templates.create}
        isReady={name.trim() !== '' && domains !== undefined}
        write={create}
        onSubmit={submit}
        onCancel={onClose}
      >
        <TextInput
          label={text.templates.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={NAME_MAX_CHARS}
          required
          data-autofocus
        />
        <Radio.Group label={text.templates.type} value={type} onChange={(value) => setType(value as TemplateType)}>
          <Stack gap="xs" mt={4}>
            {TEMPLATE_TYPES.map((value) => (
              <Radio
                key={value}
                value={value}
                label={text.templates.types[value]}
                description={text.templates.typeMeans[value]}
              />
            ))}
          </Stack>
        </Radio.Group>
        <Input.Wrapper labelElement="div" label={text.templates.start}>
          <LayoutGallery
            label={text.templates.start}
            value={layout}
            onChange={(value) => {
              setLayout(value as TemplateLayout);
              // A newsletter or an offer must not reach contacts who have unsubscribed.
              if (value !== 'letter' && value !== 'blank') setType('MARKETING');
            }}
          />
        </Input.Wrapper>
      </DialogForm>
    </Modal>
  );
}
