import { ActionIcon, Button, Group, Tooltip } from '@mantine/core';
import { IconMaximize, IconMinus, IconPlus } from '@tabler/icons-react';
import { useReactFlow, useViewport } from '@xyflow/react';
import { text } from '../../../text/text.ts';
import classes from './canvas.module.css';

const t = text.automations;
const DURATION = { duration: 150 };

/** The zoom of the canvas: out, 100%, in, and the whole automation. */
export function Zoom({ onFit }: { onFit: () => void }) {
  const { zoomIn, zoomOut, zoomTo } = useReactFlow();
  const { zoom } = useViewport();
  return (
    <Group className={classes.zoom} role="group" aria-label={t.zoom}>
      <Tool label={t.zoomOut} icon={IconMinus} onClick={() => void zoomOut(DURATION)} />
      <Tooltip label={t.zoomReset}>
        <Button
          variant="subtle"
          color="gray"
          size="compact-xs"
          h={28}
          w={52}
          px={0}
          aria-label={t.zoomReset}
          onClick={() => void zoomTo(1, DURATION)}
        >
          {Math.round(zoom * 100)}%
        </Button>
      </Tooltip>
      <Tool label={t.zoomIn} icon={IconPlus} onClick={() => void zoomIn(DURATION)} />
      <Tool label={t.zoomFit} icon={IconMaximize} onClick={onFit} />
    </Group>
  );
}

function Tool({ label, icon: Icon, onClick }: { label: string; icon: typeof IconPlus; onClick: () => void }) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" size={28} aria-label={label} onClick={onClick}>
        <Icon size={16} stroke={1.75} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
