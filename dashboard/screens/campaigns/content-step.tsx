import { Select, Text, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import { callApi } from '../../api/client.ts';
import { PanelGroup } from '../../parts/editor-frame.tsx';
import { EmailEditor } from '../../parts/email-editor/email-editor.tsx';
import { Envelope } from '../../parts/email-editor/envelope.tsx';
import { createLayoutContent, isTemplateLayout } from '../../parts/email-editor/layouts.ts';
import { notifyFailure, notifyWithUndo } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';
import { listContentChoices, useSenders, useTemplates } from './choices.ts';
import type { Editing } from './editing.ts';
import { VariantSelect } from './preview-dialog.tsx';
import { Variants } from './variants.tsx';

const words = text.campaigns;

/** The content of the email on the canvas, with its envelope above, and the other settings beside it. */
export function ContentStep({ onSave, ...editing }: Editing & { onSave: () => void }) {
  const { draft, change, fault, isReadOnly } = editing;
  const [shownKey, setShownKey] = useState('');
  const senders = useSenders();
  const withOwnBody = draft.variants.filter(({ body }) => body !== undefined);
  const variant = withOwnBody.find(({ key }) => key === shownKey);
  const bodyFault = variant ? fault(`variants.${draft.variants.indexOf(variant)}.body`) : fault('body');
  return (
    <EmailEditor
      contentKey={variant?.key ?? ''}
      email={{
        subject: variant?.subject || draft.subject,
        preheader: variant?.preheader || draft.preheader,
        body: variant?.body ?? draft.body,
        type: 'MARKETING',
      }}
      onBody={(body, isOwnStep) =>
        change(
          variant
            ? { variants: draft.variants.map((one) => (one.key === variant.key ? { ...one, body } : one)) }
            : { body },
          isOwnStep,
        )
      }
      onSave={onSave}
      isReadOnly={isReadOnly}
      details={
        <>
          <PanelGroup>
            <Title order={2} size="h5">
              {text.emailEditor.details}
            </Title>
            <TextInput
              label={words.name}
              description={words.nameHelp}
              required
              maxLength={255}
              value={draft.name}
              onChange={(event) => change({ name: event.currentTarget.value })}
              error={fault('name')}
              readOnly={isReadOnly}
            />
            <TextInput
              label={words.replyTo}
              placeholder={text.emailEditor.replyToHint}
              inputMode="email"
              value={draft.replyTo}
              onChange={(event) => change({ replyTo: event.currentTarget.value })}
              error={fault('replyTo')}
              readOnly={isReadOnly}
            />
            <TemplateChoice {...editing} />
          </PanelGroup>
          <Variants {...editing} onOwnBody={setShownKey} />
        </>
      }
    >
      {withOwnBody.length > 0 && (
        <VariantSelect variants={withOwnBody} value={variant?.key ?? ''} onChange={setShownKey} />
      )}
      <Envelope fields={draft} senders={senders} change={change} fault={fault} isReadOnly={isReadOnly} />
      {bodyFault && (
        <Text c="red" size="sm" role="alert">
          {bodyFault}
        </Text>
      )}
    </EmailEditor>
  );
}

function TemplateChoice({ draft, change, isReadOnly }: Editing) {
  const templates = useTemplates();
  const copyTemplate = async (id: string | null) => {
    if (id === null) return;
    const before = { subject: draft.subject, body: draft.body, preheader: draft.preheader };
    const apply = (name: string, content: Partial<typeof before>) => {
      change({ preheader: '', ...content });
      notifyWithUndo(words.templateTaken(name), () => change(before));
    };
    if (isTemplateLayout(id)) return apply(text.templates.starts[id], createLayoutContent(id));
    try {
      const { name, subject, body, preheader } = await callApi('getTemplate', { params: { id } });
      apply(name, { subject, body, preheader: preheader ?? '' });
    } catch (error) {
      notifyFailure(error);
    }
  };
  return (
    <Select
      label={words.template}
      placeholder={words.pickTemplate}
      description={words.templateHelp}
      data={listContentChoices(templates)}
      value={null}
      onChange={(id) => void copyTemplate(id)}
      searchable
      disabled={isReadOnly}
    />
  );
}
