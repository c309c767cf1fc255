import { Stack, Title } from '@mantine/core';
import { text } from '../../../text/text.ts';
import classes from '../email-editor.module.css';
import {
  type BlockValues,
  canStyle,
  createDividerEdits,
  createStyleEdits,
  readBlockValues,
  readDivider,
} from './block-styles.ts';
import { AlignmentField, ColorField, PixelField } from './panel-fields.tsx';
import type { Block } from './source-blocks.ts';
import type { SourceEdit } from './source-edits.ts';
import type { OpeningTag } from './source-parts.ts';

const words = text.emailEditor;

interface Form {
  source: string;
  isReadOnly: boolean;
  /** Called with edits in the order in which they apply. */
  onEdit: (edits: SourceEdit[]) => void;
}

/** The panel's form for the innermost block that has properties. */
export function BlockForm({ around, ...form }: Form & { around: readonly Block[] }) {
  const block = around.find((one) => canStyle(form.source, one));
  if (!block) return null;
  const { source, isReadOnly, onEdit } = form;
  const values = readBlockValues(source, block);
  const field = <Name extends keyof BlockValues>(name: Name) => ({
    label: words.properties[name],
    value: values[name],
    isReadOnly,
    onChange: (value: BlockValues[Name]) => onEdit(createStyleEdits(source, block, { [name]: value })),
  });
  return (
    <Properties name={words.blockNames[block.name] ?? block.name}>
      {'align' in values && <AlignmentField {...field('align')} />}
      {'size' in values && <PixelField {...field('size')} max={96} />}
      {'color' in values && <ColorField {...field('color')} />}
      {'background' in values && <ColorField {...field('background')} />}
      {'padding' in values && <PixelField {...field('padding')} />}
      {'below' in values && <PixelField {...field('below')} />}
    </Properties>
  );
}

/** The properties of a divider, or of a spacer, which is a divider without a line. */
export function DividerForm({ tag, around, ...form }: Form & { tag: OpeningTag; around: readonly Block[] }) {
  const { source, isReadOnly, onEdit } = form;
  const { height, thickness, color } = readDivider(source, tag);
  const change = (values: Parameters<typeof createDividerEdits>[3]) =>
    onEdit(createDividerEdits(source, tag, around[0], values));
  if (height !== undefined) {
    return (
      <Properties name={words.newBlocks.spacer}>
        <PixelField
          label={words.properties.height}
          value={height}
          isReadOnly={isReadOnly}
          onChange={(value) => change({ height: value })}
        />
      </Properties>
    );
  }
  return (
    <Properties name={words.newBlocks.divider}>
      <ColorField
        label={words.properties.line}
        value={color}
        isReadOnly={isReadOnly}
        onChange={(value) => change({ thickness, color: value })}
      />
      <PixelField
        label={words.properties.thickness}
        value={thickness}
        max={20}
        isReadOnly={isReadOnly}
        onChange={(value) => change({ thickness: value, color })}
      />
    </Properties>
  );
}

function Properties({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <Stack gap="xs" component="section" aria-label={name} className={classes.properties}>
      <Title order={2} size="h5" mb={4}>
        {name}
      </Title>
      {children}
    </Stack>
  );
}
