export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

export interface ImageFacts {
  type: ImageType;
  /** In pixels. */
  width: number;
  height: number;
}

/** The maximum width and height of an image. Emails need no larger images. */
const SIDE_MAX_PX = 20_000;

/**
 * Reads type and size of an image from its bytes only, because names and types from a caller prove nothing. Undefined
 * for files of other types, such as SVG and HTML, for a truncated header, and for a side of 0 or above the maximum.
 */
export function readImage(bytes: Uint8Array): ImageFacts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = readPng(view) ?? readGif(view) ?? readWebp(view) ?? readJpeg(view);
  if (!found) return undefined;
  const sides = [found.width, found.height];
  return sides.every((side) => side > 0 && side <= SIDE_MAX_PX) ? found : undefined;
}

/** Reads a PNG image: the signature, then IHDR as the first chunk (PNG §5.2, §11.2.1). */
function readPng(view: DataView): ImageFacts | undefined {
  if (view.byteLength < 33 || view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a) return undefined;
  if (readAscii(view, 12, 4) !== 'IHDR') return undefined;
  return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
}

function readGif(view: DataView): ImageFacts | undefined {
  if (view.byteLength < 13 || !['GIF87a', 'GIF89a'].includes(readAscii(view, 0, 6))) return undefined;
  return { type: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/** Reads a WebP image. The type of its first chunk determines the position of its size (RFC 9649 §2.5 to 2.7, §3.4). */
function readWebp(view: DataView): ImageFacts | undefined {
  if (view.byteLength < 30 || readAscii(view, 0, 4) !== 'RIFF' || readAscii(view, 8, 4) !== 'WEBP') return undefined;
  const type = 'image/webp' as const;
  switch (readAscii(view, 12, 4)) {
    case 'VP8 ':
      return { type, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case 'VP8L': {
      const bits = view.getUint32(21, true);
      return view.getUint8(20) === 0x2f
        ? { type, width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
        : undefined;
    }
    case 'VP8X':
      return { type, width: readUint24(view, 24) + 1, height: readUint24(view, 27) + 1 };
    default:
      return undefined;
  }
}

/**
 * Reads a JPEG image. The size of the image is in the segment "start of frame". Each segment before it contains its own
 * length (ITU T.81 §B.1.1.4, §B.2.2).
 */
function readJpeg(view: DataView): ImageFacts | undefined {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 9 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      // Any number of fill bytes may come before a marker.
      at += 1;
      continue;
    }
    if (isStartOfFrame(marker)) {
      return { type: 'image/jpeg', height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    }
    const length = view.getUint16(at + 2);
    // The image data starts before any start of frame, or the length is invalid.
    if (marker === 0xda || marker < 0xc0 || length < 2) return undefined;
    at += 2 + length;
  }
  return undefined;
}

/** Tells whether a marker is one of SOF0 to SOF15. Three markers in this range have another meaning. */
function isStartOfFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

function readUint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}

function readAscii(view: DataView, at: number, length: number): string {
  return String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at, length));
}
