import { Box } from '@mantine/core';
import { useMatch } from '@tanstack/react-router';
import { Placeholder } from '../parts/loading.tsx';
import { GrayLine, GrayLines, Repeat } from '../parts/pending-lines.tsx';

/** As many rows as a laptop's window shows. */
const ROWS = 14;

/**
 * Shows gray parts while the code of a screen loads, in the shape that screens of this kind have. Outside of the shell,
 * nothing is visible, because the sidebar may be missing. The parts are simple, because they belong to the first load.
 */
export function PendingScreen() {
  const { routeId, staticData } = useMatch({ strict: false });
  const isEditor = staticData.isFullScreen === true;
  return (
    <Placeholder isBoxless={isEditor}>
      {!routeId.startsWith('/shell/') ? null : isEditor ? (
        <GrayEditor />
      ) : (
        <GrayScreen isRecord={staticData.isRecord === true} />
      )}
    </Placeholder>
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

/** The title with a line below it, and rows. A record has a link back above its title. */
function GrayScreen({ isRecord }: { isRecord: boolean }) {
  return (
    <>
      {isRecord && (
        <Box h={26}>
          <GrayLine width={72} />
        </Box>
      )}
      <Box display="grid" mb="lg" style={{ gap: 4 }}>
        <GrayLine width="min(220px, 60%)" height={28} />
        <GrayLines count={1} />
      </Box>
      <Repeat count={ROWS}>
        <div className="gray-row">
          <GrayLine width="40%" />
        </div>
      </Repeat>
    </>
  );
}
