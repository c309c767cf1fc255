import { Button, CloseButton, FileButton, Group, Paper, TextInput } from '@mantine/core';
import { useState } from 'react';
import { text } from '../../../text/text.ts';
import { attributeEdit, attributeValue, type SourceEdit } from './source-edits.ts';
import { isCutOff, type TagPart } from './source-parts.ts';

/** A form for the link or image that was clicked. A change takes effect when its field loses focus, or with Enter. */
export function PickedForm({
  source,
  picked,
  isReadOnly,
  onEdit,
  onRemove,
  onClose,
  onPicture,
}: {
  source: string;
  picked: TagPart;
  isReadOnly: boolean;
  onEdit: (edit: SourceEdit) => void;
  /** Called to remove the image. */
  onRemove: () => void;
  onClose: () => void;
  /** Called with an image file that replaces the image. */
  onPicture: (file: File) => void;
}) {
  const field = (name: string, label: string) => (
    <AttributeField
      key={name}
      label={label}
      value={attributeValue(source, picked, name) ?? ''}
      isReadOnly={isReadOnly || isCutOff(source, picked, name)}
      onChange={(value) => onEdit(attributeEdit(picked, name, value))}
    />
  );
  return (
    <Paper withBorder p="xs" component="section" aria-label={text.emailEditor.picked[picked.kind]}>
      <Group align="flex-end" gap="xs" wrap="wrap">
        {picked.kind === 'link' && field('href', text.emailEditor.linkTo)}
        {picked.kind === 'picture' && (
          <>
            {field('src', text.emailEditor.pictureAt)}
            {field('alt', text.emailEditor.pictureAlt)}
            {field('width', text.emailEditor.pictureWidth)}
            <FileButton
              accept="image/png,image/jpeg,image/gif,image/webp"
              disabled={isReadOnly}
              onChange={(file) => file && onPicture(file)}
            >
              {(props) => (
                <Button {...props} size="xs" variant="default">
                  {text.emailEditor.pictureReplace}
                </Button>
              )}
            </FileButton>
            <Button size="xs" variant="default" disabled={isReadOnly} onClick={onRemove}>
              {text.emailEditor.pictureRemove}
            </Button>
          </>
        )}
        <CloseButton aria-label={text.app.close} onClick={onClose} ml="auto" />
      </Group>
    </Paper>
  );
}

function AttributeField({
  label,
  value,
  isReadOnly,
  onChange,
}: {
  label: string;
  value: string;
  isReadOnly: boolean;
  onChange: (value: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  const apply = () => typed !== value && onChange(typed);
  return (
    <TextInput
      size="xs"
      label={label}
      value={typed}
      readOnly={isReadOnly}
      style={{ flex: '1 1 140px' }}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => event.key === 'Enter' && apply()}
    />
  );
}
