import { Autocomplete, Select, Text, TextInput, Title } from '@mantine/core';
import { type ReactNode, useId, useState } from 'react';
import { call } from '../../api/client.ts';
import { EditorPanel, PanelGroup } from '../../parts/editor-frame.tsx';
import { MailEditor } from '../../parts/mail-editor/mail-editor.tsx';
import { tellFailure, tellUndoable } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';
import { useSenders, useTemplates } from './choices.ts';
import classes from './content-step.module.css';
import type { Editing } from './editing.ts';
import { VersionChoice } from './preview-dialog.tsx';
import { Versions } from './versions.tsx';

const words = text.campaigns;
/** The recommended line length of RFC 5322. Mail clients cut longer subjects. */
const SUBJECT_SHOWN = 78;

/** The content of the email on the canvas, with its envelope above, and the other settings beside it. */
export function ContentStep({ onSave, ...editing }: Editing & { onSave: () => void }) {
  const { draft, change, fault, isReadOnly } = editing;
  const [shownKey, show] = useState('');
  const own = draft.versions.filter(({ body }) => body !== undefined);
  const version = own.find(({ key }) => key === shownKey);
  const bodyFault = version ? fault(`variants.${draft.versions.indexOf(version)}.body`) : fault('body');
  return (
    <>
      <section className={classes.desk} aria-label={words.body}>
        {own.length > 0 && <VersionChoice versions={own} value={version?.key ?? ''} onChange={show} />}
        <Envelope {...editing} />
        {bodyFault && (
          <Text c="red" size="sm" role="alert">
            {bodyFault}
          </Text>
        )}
        <MailEditor
          key={version?.key}
          isCanvas
          mail={{
            subject: version?.subject || draft.subject,
            preheader: version?.preheader || draft.preheader,
            body: version?.body ?? draft.body,
            type: 'MARKETING',
          }}
          onBody={(body) =>
            change(
              version
                ? { versions: draft.versions.map((one) => (one.key === version.key ? { ...one, body } : one)) }
                : { body },
            )
          }
          onSave={onSave}
          isReadOnly={isReadOnly}
        />
      </section>
      <EditorPanel label={words.details}>
        <PanelGroup>
          <Title order={2} size="h5">
            {words.details}
          </Title>
          <TextInput
            label={words.name}
            description={words.nameWhat}
            required
            maxLength={255}
            value={draft.name}
            onChange={(event) => change({ name: event.currentTarget.value })}
            error={fault('name')}
            readOnly={isReadOnly}
          />
          <TextInput
            label={words.replyTo}
            inputMode="email"
            value={draft.replyTo}
            onChange={(event) => change({ replyTo: event.currentTarget.value })}
            error={fault('replyTo')}
            readOnly={isReadOnly}
          />
          <TemplateChoice {...editing} />
        </PanelGroup>
        <Versions {...editing} onOwnBody={show} />
      </EditorPanel>
    </>
  );
}

/** Sender, subject and preview text, as a mail client shows them above an email. */
function Envelope({ draft, change, fault, isReadOnly }: Editing) {
  const senders = useSenders();
  const isLong = draft.subject.length > SUBJECT_SHOWN;
  const plain = { variant: 'unstyled', readOnly: isReadOnly } as const;
  return (
    <div className={classes.envelope}>
      <Row label={words.from}>
        {(id) => (
          <>
            <TextInput
              {...plain}
              aria-label={words.fromName}
              placeholder={words.fromName}
              maxLength={200}
              value={draft.fromName}
              onChange={(event) => change({ fromName: event.currentTarget.value })}
              error={fault('fromName')}
              className={classes.senderName}
            />
            <Autocomplete
              {...plain}
              id={id}
              data={senders}
              value={draft.from}
              onChange={(from) => change({ from })}
              error={fault('from')}
              className={classes.field}
            />
          </>
        )}
      </Row>
      <Row label={words.subject} count={draft.subject.length}>
        {(id) => (
          <TextInput
            {...plain}
            id={id}
            value={draft.subject}
            onChange={(event) => change({ subject: event.currentTarget.value })}
            description={isLong ? words.characters(draft.subject.length) : undefined}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            error={fault('subject')}
            className={classes.field}
          />
        )}
      </Row>
      <Row label={words.preheader} count={draft.preheader.length}>
        {(id) => (
          <TextInput
            {...plain}
            id={id}
            placeholder={words.preheaderWhat}
            maxLength={500}
            value={draft.preheader}
            onChange={(event) => change({ preheader: event.currentTarget.value })}
            error={fault('preheader')}
            className={classes.field}
          />
        )}
      </Row>
    </div>
  );
}

/** A line of the envelope: label, fields, and the number of characters. */
function Row({ label, count, children }: { label: string; count?: number; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className={classes.row}>
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {count !== undefined && count > 0 && (
        <span className={classes.count} aria-hidden>
          {count}
        </span>
      )}
    </div>
  );
}

function TemplateChoice({ draft, change, isReadOnly }: Editing) {
  const templates = useTemplates();
  const take = async (id: string | null) => {
    if (id === null) return;
    const before = { subject: draft.subject, body: draft.body, preheader: draft.preheader };
    try {
      const { name, subject, body, preheader } = await call('getTemplate', { params: { id } });
      change({ subject, body, preheader: preheader ?? '' });
      tellUndoable(words.templateTaken(name), () => change(before));
    } catch (error) {
      tellFailure(error);
    }
  };
  return (
    <Select
      label={words.template}
      description={words.templateWhat}
      data={templates.map(({ id, name }) => ({ value: id, label: name }))}
      value={null}
      onChange={(id) => void take(id)}
      searchable
      disabled={isReadOnly || templates.length === 0}
    />
  );
}
