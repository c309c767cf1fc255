import { Button, CloseButton, ColorInput, FileButton, Group, Paper, Stack, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import { text } from '../../../text/text.ts';
import { attributeEdit, attributeValue, buttonColor, type SourceEdit } from './source-edits.ts';
import { endsInLiquid, type TagPart } from './source-parts.ts';

const words = text.emailEditor;
const COLOR = /^#[0-9a-f]{6}$/i;

/** A form for the link or image that was clicked. A change takes effect when its field loses focus, or with Enter. */
export function PickedForm({
  source,
  picked,
  isReadOnly,
  isInPanel,
  onEdit,
  onRemove,
  onClose,
  onImage,
}: {
  source: string;
  picked: TagPart;
  isReadOnly: boolean;
  /** In the panel the fields are below each other; above the canvas they are in a row. */
  isInPanel: boolean;
  onEdit: (edit: SourceEdit) => void;
  /** Called to remove the image. */
  onRemove: () => void;
  onClose: () => void;
  /** Called with an image file that replaces the image. */
  onImage: (file: File) => void;
}) {
  const field = (name: string, label: string) => (
    <AttributeField
      key={name}
      label={label}
      value={attributeValue(source, picked, name) ?? ''}
      isReadOnly={isReadOnly || endsInLiquid(source, picked, name)}
      isInRow={!isInPanel}
      onChange={(value) => onEdit(attributeEdit(picked, name, value))}
    />
  );
  const color = picked.kind === 'link' ? buttonColor(source, picked) : undefined;
  const paint = (said: string) => color && COLOR.test(said) && said !== color.said && onEdit({ ...color, said });
  const fields = (
    <>
      {picked.kind === 'link' && field('href', words.linkTo)}
      {color && (
        <ColorInput
          size="xs"
          label={words.buttonColor}
          defaultValue={color.said}
          readOnly={isReadOnly}
          withEyeDropper={false}
          onChangeEnd={paint}
          onBlur={(event) => paint(event.currentTarget.value)}
        />
      )}
      {picked.kind === 'image' && (
        <>
          {field('src', words.pictureAt)}
          {field('alt', words.pictureAlt)}
          {field('width', words.pictureWidth)}
          <Group gap="xs">
            <FileButton
              accept="image/png,image/jpeg,image/gif,image/webp"
              disabled={isReadOnly}
              onChange={(file) => file && onImage(file)}
            >
              {(props) => (
                <Button {...props} size="xs" variant="default">
                  {words.pictureReplace}
                </Button>
              )}
            </FileButton>
            <Button size="xs" variant="default" disabled={isReadOnly} onClick={onRemove}>
              {words.pictureRemove}
            </Button>
          </Group>
        </>
      )}
    </>
  );
  const close = <CloseButton aria-label={text.app.close} onClick={onClose} ml="auto" />;
  if (!isInPanel) {
    return (
      <Paper withBorder p="xs" component="section" aria-label={words.picked[picked.kind]}>
        <Group align="flex-end" gap="xs" wrap="wrap">
          {fields}
          {close}
        </Group>
      </Paper>
    );
  }
  return (
    <Stack gap="sm" component="section" aria-label={words.picked[picked.kind]} ref={showForm}>
      <Group>
        <Title order={2} size="h5">
          {words.picked[picked.kind]}
        </Title>
        {close}
      </Group>
      {fields}
    </Stack>
  );
}

/** Scrolls the panel to the form that has just been opened. */
function showForm(form: HTMLElement | null): void {
  form?.scrollIntoView({ block: 'nearest' });
}

function AttributeField({
  label,
  value,
  isReadOnly,
  isInRow,
  onChange,
}: {
  label: string;
  value: string;
  isReadOnly: boolean;
  isInRow: boolean;
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
      {...(isInRow && { flex: '1 1 140px' })}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => event.key === 'Enter' && apply()}
    />
  );
}
