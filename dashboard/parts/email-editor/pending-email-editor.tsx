import { Box, Paper, Stack } from '@mantine/core';
import { EditorPanel } from '../editor-frame.tsx';
import { GrayBlock } from '../gray-parts.tsx';
import { GrayLine, GrayLines, Repeat } from '../pending-lines.tsx';
import classes from './email-editor.module.css';

/** Width of the canvas, and height of an email that is loading, in pixels. */
export const CANVAS = { width: 640, height: 420 };
const BLOCKS = 11;
/** Sender, subject and preview text. */
const ENVELOPE_ROWS = 3;

/** The placeholder of the email editor: blocks, envelope, email and details. */
export function GrayEmailEditor() {
  return (
    <>
      <div className={classes.palette}>
        <Box display="grid" mb="sm">
          <GrayLine width="36%" height={20} />
        </Box>
        <div className={classes.blocks}>
          <Repeat count={BLOCKS}>
            <GrayBlock height={60} />
          </Repeat>
        </div>
      </div>
      <div className={classes.desk}>
        <div className={classes.envelope}>
          <Repeat count={ENVELOPE_ROWS}>
            <div className={classes.row}>
              <GrayLine width="40%" />
            </div>
          </Repeat>
        </div>
        <Stack gap="xs" maw={CANVAS.width} w="100%" mx="auto">
          <div className={classes.tools} />
          <Paper withBorder h={CANVAS.height} />
        </Stack>
      </div>
      <EditorPanel label="">
        <GrayLines count={6} gap={24} />
      </EditorPanel>
    </>
  );
}
