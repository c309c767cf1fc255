import { Autocomplete, TextInput } from '@mantine/core';
import { type ReactNode, useId } from 'react';
import { text } from '../../text/text.ts';
import classes from './email-editor.module.css';
import { VariableInput } from './variable-input.tsx';

const words = text.emailEditor;
/** The recommended line length of RFC 5322. Mail clients cut longer subjects. */
const SUBJECT_SHOWN = 78;

/** The fields that a mail client shows above an email. A missing value is an empty string. */
export interface EnvelopeFields {
  from: string;
  fromName: string;
  subject: string;
  preheader: string;
}

/** Sender, subject and preview text, as a mail client shows them above an email. */
export function Envelope({
  fields,
  senders,
  subjectHint,
  change,
  fault = () => undefined,
  isReadOnly,
}: {
  fields: EnvelopeFields;
  /** Addresses to choose from; any other can be typed. */
  senders: string[];
  /** Shown in an empty subject. */
  subjectHint?: string;
  change: (part: Partial<EnvelopeFields>) => void;
  /** The API's error of a field. */
  fault?: (field: string) => string | undefined;
  isReadOnly: boolean;
}) {
  const isLong = fields.subject.length > SUBJECT_SHOWN;
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
              value={fields.fromName}
              onChange={(event) => change({ fromName: event.currentTarget.value })}
              error={fault('fromName')}
              className={classes.senderName}
            />
            <Autocomplete
              {...plain}
              id={id}
              data={senders}
              value={fields.from}
              onChange={(from) => change({ from })}
              placeholder={senders[0]}
              error={fault('from')}
              className={classes.field}
            />
          </>
        )}
      </Row>
      <Row label={words.subject} count={fields.subject.length}>
        {(id) => (
          <VariableInput
            {...plain}
            id={id}
            placeholder={subjectHint}
            value={fields.subject}
            onChange={(event) => change({ subject: event.currentTarget.value })}
            description={isLong ? words.characters(fields.subject.length) : undefined}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            error={fault('subject')}
            className={classes.field}
          />
        )}
      </Row>
      <Row label={words.preheader} count={fields.preheader.length}>
        {(id) => (
          <VariableInput
            {...plain}
            id={id}
            placeholder={words.preheaderHelp}
            maxLength={500}
            value={fields.preheader}
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
