import { Tag } from '../../parts/status.tsx';
import { text } from '../../text/text.ts';

/** The type of a segment, with its meaning on hover. */
export function TypeBadge({ type }: { type: 'DYNAMIC' | 'STATIC' }) {
  return <Tag means={text.segments.typesMean[type]}>{text.segments.types[type]}</Tag>;
}
