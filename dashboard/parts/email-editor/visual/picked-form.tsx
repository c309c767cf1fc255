import { Button, CloseButton, FileButton, Group, Stack, Title } from '@mantine/core';
import { text } from '../../../text/text.ts';
import { AppliedText, ColorField } from './panel-fields.tsx';
import { createAttributeEdit, readAttribute, readButtonColor, type SourceEdit } from './source-edits.ts';
import { isCutByLiquid, type TagPart } from './source-parts.ts';

const words = text.emailEditor;

/** A form for the link or image that was clicked. A change takes effect when its field loses focus, or with Enter. */
export function PickedForm({
  source,
  picked,
  isReadOnly,
  onEdit,
  onRemove,
  onClose,
  onImage,
}: {
  source: string;
  picked: TagPart;
  isReadOnly: boolean;
  onEdit: (edit: SourceEdit) => void;
  /** Called to remove the image. */
  onRemove: () => void;
  /** Undefined in the sheet of a phone, which has its own close button. */
  onClose: (() => void) | undefined;
  /** Called with an image file that replaces the image. */
  onImage: (file: File) => void;
}) {
  const field = (name: string, label: string) => (
    <AppliedText
      key={name}
      label={label}
      value={readAttribute(source, picked, name) ?? ''}
      isReadOnly={isReadOnly || isCutByLiquid(source, picked, name)}
      onChange={(value) => onEdit(createAttributeEdit(picked, name, value))}
    />
  );
  const color = picked.kind === 'link' ? readButtonColor(source, picked) : undefined;
  const name = color ? words.newBlocks.button : words.picked[picked.kind];
  return (
    <Stack gap="sm" component="section" aria-label={name} ref={scrollToForm}>
      <Group>
        <Title order={2} size="h5">
          {name}
        </Title>
        {onClose && <CloseButton aria-label={text.app.close} onClick={onClose} ml="auto" />}
      </Group>
      {picked.kind === 'link' && field('href', words.linkTo)}
      {color && (
        <ColorField
          label={words.buttonColor}
          value={color.replacement}
          isReadOnly={isReadOnly}
          onChange={(chosen) => onEdit({ ...color, replacement: chosen })}
        />
      )}
      {picked.kind === 'image' && (
        <>
          {field('src', words.imageUrl)}
          {field('alt', words.imageAlt)}
          {field('width', words.imageWidth)}
          <Group gap="xs">
            <FileButton
              accept="image/png,image/jpeg,image/gif,image/webp"
              disabled={isReadOnly}
              onChange={(file) => file && onImage(file)}
            >
              {(props) => (
                <Button {...props} size="xs" variant="default">
                  {words.imageReplace}
                </Button>
              )}
            </FileButton>
            <Button size="xs" variant="default" disabled={isReadOnly} onClick={onRemove}>
              {words.imageRemove}
            </Button>
          </Group>
        </>
      )}
    </Stack>
  );
}

/** Scrolls the panel to the form that has just been opened. */
function scrollToForm(form: HTMLElement | null): void {
  form?.scrollIntoView({ block: 'nearest' });
}
