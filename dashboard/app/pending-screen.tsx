import { Box } from '@mantine/core';
import { useMatch } from '@tanstack/react-router';
import { GrayBlock, GrayCard, GrayColumns, GrayHead } from '../parts/gray-parts.tsx';
import { Placeholder } from '../parts/loading.tsx';
import { GrayLine } from '../parts/pending-lines.tsx';
import { GrayRows } from '../parts/row-table.tsx';

/** Columns of a list whose names are not known yet. */
const COLUMNS = ['a', 'b', 'c'].map((name) => ({ name, head: <GrayLine width={64} />, cell: () => null }));

/**
 * Shows gray parts while the code of a screen loads, in the shape that screens of this kind have. Outside of the shell,
 * nothing is visible, because the sidebar may be missing.
 */
export function PendingScreen() {
  const { routeId, staticData } = useMatch({ strict: false });
  return (
    <Placeholder isBoxless={staticData.isFullScreen === true}>{createGrayScreen(routeId, staticData)}</Placeholder>
  );
}

function createGrayScreen(routeId: string, { isFullScreen, isRecord }: { isFullScreen?: boolean; isRecord?: boolean }) {
  if (!routeId.startsWith('/shell/')) return null;
  if (isFullScreen) return <GrayEditor />;
  if (isRecord) return <GrayRecord />;
  return (
    <>
      <GrayHead />
      <Box mb="md">
        <GrayBlock height={32} width={240} />
      </Box>
      <GrayRows columns={COLUMNS} caption="" />
    </>
  );
}

/** The header of an editor, with its title, above the canvas. */
function GrayEditor() {
  return (
    <div className="gray-editor">
      <div>
        <GrayLine width={120} />
      </div>
    </div>
  );
}

function GrayRecord() {
  return (
    <>
      <Box h={26}>
        <GrayLine width={72} />
      </Box>
      <GrayHead />
      <GrayColumns aside={<GrayCard lines={6} />}>
        <GrayCard lines={6} />
      </GrayColumns>
    </>
  );
}
