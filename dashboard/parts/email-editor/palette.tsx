import { Button, FileButton, Menu } from '@mantine/core';
import {
  IconArrowsVertical,
  IconClick,
  IconColumns2,
  IconHeading,
  IconLayoutBottombar,
  IconList,
  IconMinus,
  IconPhoto,
  IconPlus,
  IconShare,
  IconShoppingBag,
  IconTypography,
} from '@tabler/icons-react';
import { type ReactNode, useRef, useState } from 'react';
import { text } from '../../text/text.ts';
import classes from './email-editor.module.css';
import { type ImageBlock, isImageBlock, NEW_BLOCKS, type NewBlock } from './new-blocks.ts';

const words = text.emailEditor;
const IMAGES = 'image/png,image/jpeg,image/gif,image/webp';
const ICONS: Record<NewBlock, typeof IconPlus> = {
  text: IconTypography,
  heading: IconHeading,
  image: IconPhoto,
  button: IconClick,
  columns: IconColumns2,
  product: IconShoppingBag,
  list: IconList,
  divider: IconMinus,
  spacer: IconArrowsVertical,
  social: IconShare,
  footer: IconLayoutBottombar,
};
const ORDER = Object.keys(ICONS) as NewBlock[];

interface PaletteProps {
  /** Adds the block with this markup. */
  onBlock: (html: string) => void;
  /** Uploads the image, and adds a block that contains it. */
  onImage: (file: File, block: ImageBlock) => void;
  mayUpload: boolean;
}

/** The blocks of an email, beside the canvas. A click adds a block. */
export function Palette({ onBlock, onImage, mayUpload }: PaletteProps) {
  return (
    <aside className={classes.palette} aria-label={words.blocks}>
      <h2>{words.blocks}</h2>
      <div className={classes.blocks}>
        {ORDER.map((block) => {
          const Icon = ICONS[block];
          const content: ReactNode = (
            <>
              <Icon size={18} stroke={1.5} aria-hidden />
              {words.newBlocks[block]}
            </>
          );
          if (!isImageBlock(block)) {
            return (
              <button key={block} type="button" onClick={() => onBlock(NEW_BLOCKS[block])}>
                {content}
              </button>
            );
          }
          return (
            <FileButton key={block} accept={IMAGES} onChange={(file) => file && onImage(file, block)}>
              {(props) => (
                <button type="button" {...props} disabled={!mayUpload}>
                  {content}
                </button>
              )}
            </FileButton>
          );
        })}
      </div>
      <p>{words.blocksHint}</p>
    </aside>
  );
}

/** The same blocks as a menu, for screens without space for the palette. */
export function BlockMenu({ onBlock, onImage, mayUpload }: PaletteProps) {
  const file = useRef<HTMLInputElement>(null);
  const [imageBlock, setImageBlock] = useState<ImageBlock>('image');
  const add = (block: NewBlock) => {
    if (!isImageBlock(block)) return onBlock(NEW_BLOCKS[block]);
    setImageBlock(block);
    file.current?.click();
  };
  return (
    <div className={classes.blockMenu}>
      <Menu position="bottom-start" withinPortal>
        <Menu.Target>
          <Button size="compact-sm" variant="default" leftSection={<IconPlus size={14} aria-hidden />}>
            {words.addBlock}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {ORDER.map((block) => {
            const Icon = ICONS[block];
            return (
              <Menu.Item
                key={block}
                leftSection={<Icon size={16} stroke={1.75} aria-hidden />}
                disabled={isImageBlock(block) && !mayUpload}
                onClick={() => add(block)}
              >
                {words.newBlocks[block]}
              </Menu.Item>
            );
          })}
        </Menu.Dropdown>
      </Menu>
      <input
        ref={file}
        type="file"
        accept={IMAGES}
        hidden
        onChange={(event) => {
          const [image] = event.currentTarget.files ?? [];
          if (image) onImage(image, imageBlock);
          event.currentTarget.value = '';
        }}
      />
    </div>
  );
}
