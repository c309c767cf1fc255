import { Box, Code, Group } from '@mantine/core';
import { CopyButton } from './copy-button.tsx';

/** Shows any value as JSON. The text is escaped, so nothing in it can run. */
export function JsonView({ value, maxHeight = 360 }: { value: unknown; maxHeight?: number }) {
  const json = JSON.stringify(value, null, 2) ?? 'undefined';
  return (
    <Box pos="relative">
      <Group pos="absolute" top={4} right={8} style={{ zIndex: 1 }}>
        <CopyButton value={json} />
      </Group>
      <Code
        block
        tabIndex={0}
        mah={maxHeight}
        style={{ overflow: 'auto', overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}
      >
        {json}
      </Code>
    </Box>
  );
}
