/**
 * A message from the script that the editor adds to the frame, such as a typed text. The frame blocks scripts of the
 * email itself, so the email cannot send such a message. The message is treated as untrusted anyway.
 */
export type FrameMessage =
  | { kind: 'ready' }
  | { kind: 'typed'; id: number; text: string }
  | { kind: 'left'; id: number }
  | { kind: 'cursor'; id: number; start: number; end: number }
  | { kind: 'picked'; id: number | null }
  | { kind: 'key'; key: string }
  | { kind: 'files'; files: File[] }
  | { kind: 'height'; px: number };

/** The maximum length of a text. No email is longer, so a longer text does not come from the editor's script. */
const TEXT_MAX_CHARS = 512 * 1024;

/** Returns the message if it is valid; undefined otherwise. */
export function readFrameMessage(data: unknown): FrameMessage | undefined {
  if (typeof data !== 'object' || data === null || Reflect.get(data, 'from') !== 'tidings-visual') return undefined;
  const message = data as Record<string, unknown>;
  const { kind, id, text, start, end, key, files, px } = message;
  if (kind === 'ready') return { kind };
  if (kind === 'typed' && isCount(id) && typeof text === 'string' && text.length <= TEXT_MAX_CHARS) {
    return { kind, id, text };
  }
  if (kind === 'cursor' && isCount(id) && isCount(start) && isCount(end)) return { kind, id, start, end };
  if (kind === 'left' && isCount(id)) return { kind, id };
  if (kind === 'picked' && (id === null || isCount(id))) return { kind, id };
  if (kind === 'key' && typeof key === 'string') return { kind, key };
  if (kind === 'files' && Array.isArray(files)) return { kind, files: files.filter((file) => file instanceof File) };
  if (kind === 'height' && isCount(px)) return { kind, px };
  return undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
