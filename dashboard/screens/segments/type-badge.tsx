import { Badge, Tooltip } from '@mantine/core';
import { text } from '../../text/text.ts';

/** The type of a segment, with its meaning on hover. */
export function TypeBadge({ type }: { type: 'DYNAMIC' | 'STATIC' }) {
  return (
    <Tooltip
      label={text.segments.typesMean[type]}
      multiline
      maw={280}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Badge variant="light" color={type === 'DYNAMIC' ? 'blue' : 'gray'} tt="none" radius="sm" tabIndex={0}>
        {text.segments.types[type]}
      </Badge>
    </Tooltip>
  );
}
