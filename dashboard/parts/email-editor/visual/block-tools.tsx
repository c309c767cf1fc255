import { ActionIcon, Group, NativeSelect, Tooltip } from '@mantine/core';
import { IconAdjustmentsHorizontal, IconArrowDown, IconArrowUp, IconCopyPlus, IconTrash } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { text } from '../../../text/text.ts';
import { type Block, duplicateBlock, isCompleteBlock, removeBlock, swapBlocks } from './source-blocks.ts';
import type { SourceEdit } from './source-edits.ts';

/** Tools for the paragraph, row or table at the cursor. */
export function BlockTools({
  source,
  blocks,
  around,
  depth,
  properties,
  onDepth,
  onEdit,
}: {
  source: string;
  blocks: readonly Block[];
  /** Blocks around the cursor, the innermost first. */
  around: readonly Block[];
  /** The index of the selected block in `around`. */
  depth: number;
  /**
   * Shows or hides the properties of the block. Undefined if the panel shows them, or if the block has no properties.
   */
  properties: { isShown: boolean; toggle: () => void } | undefined;
  onDepth: (depth: number) => void;
  onEdit: (edit: SourceEdit) => void;
}) {
  const block = around[depth];
  if (!block) return null;
  const isComplete = isCompleteBlock(source, block);
  const tool = (label: string, edit: SourceEdit | undefined, icon: ReactNode) => (
    <Tooltip label={edit ? label : text.emailEditor.blockCannotChange}>
      <ActionIcon variant="default" aria-label={label} disabled={!edit} onClick={() => edit && onEdit(edit)}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
  return (
    <Group gap={4} role="group" aria-label={text.emailEditor.block}>
      <NativeSelect
        size="xs"
        aria-label={text.emailEditor.block}
        value={String(depth)}
        onChange={(event) => onDepth(Number(event.currentTarget.value))}
        data={around.map(({ name }, at) => ({ value: String(at), label: text.emailEditor.blockNames[name] ?? name }))}
      />
      {tool(
        text.emailEditor.blockDuplicate,
        isComplete ? duplicateBlock(source, block) : undefined,
        <IconCopyPlus size={16} />,
      )}
      {tool(text.emailEditor.blockUp, swapBlocks(source, blocks, block, -1), <IconArrowUp size={16} />)}
      {tool(text.emailEditor.blockDown, swapBlocks(source, blocks, block, 1), <IconArrowDown size={16} />)}
      {tool(
        text.emailEditor.blockRemove,
        isComplete ? removeBlock(source, blocks, block) : undefined,
        <IconTrash size={16} />,
      )}
      {properties && (
        <Tooltip label={text.emailEditor.blockProperties}>
          <ActionIcon
            variant={properties.isShown ? 'light' : 'default'}
            aria-label={text.emailEditor.blockProperties}
            aria-expanded={properties.isShown}
            onClick={properties.toggle}
          >
            <IconAdjustmentsHorizontal size={16} />
          </ActionIcon>
        </Tooltip>
      )}
    </Group>
  );
}
