/** Converts PNG screenshots to a palette. They have a third of the bytes, without a visible difference. */
import { deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLORS = 256;
/** The number of colors that are kept because they are frequent: backgrounds, lines and text. */
const FREQUENT = 64;
/** The minimum squared distance between the other colors. Shades at the edges of letters are nearer to each other. */
const APART = 300;

/**
 * Converts a PNG of 8 bits per channel without transparency, as Chromium writes it, to at most 256 colors: the most
 * frequent ones, then colors that differ from all chosen ones, such as the dot of a status. Every other color becomes the
 * nearest of them.
 * @param {Buffer} png
 * @returns {Buffer} the same image; `png` itself if it has a palette already
 */
export function convertToPalette(png) {
  const chunks = splitChunks(png);
  const header = chunks.find(({ type }) => type === 'IHDR').data;
  const [width, height, colorType] = [header.readUInt32BE(0), header.readUInt32BE(4), header[9]];
  if (colorType === 3) return png;
  const channels = { 2: 3, 6: 4 }[colorType];
  const raw = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)));
  const pixels = reverseFilters(raw, { width, height, channels });
  const { palette, indexOf } = buildPalette(pixels, channels);
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0, at = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, at += channels)
      rows[y * (width + 1) + 1 + x] = indexOf.get(readColor(pixels, at));
  }
  const head = Buffer.from(header);
  head[9] = 3;
  return Buffer.concat([
    SIGNATURE,
    createChunk('IHDR', head),
    createChunk('PLTE', Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]))),
    createChunk('IDAT', deflateSync(rows, { level: 9 })),
    createChunk('IEND', Buffer.alloc(0)),
  ]);
}

function splitChunks(png) {
  const chunks = [];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

/** Reverses the filter of each row (PNG specification §9). */
function reverseFilters(raw, { width, height, channels }) {
  const stride = width * channels;
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)];
    for (let x = 0; x < stride; x += 1) {
      const to = y * stride + x;
      const left = x < channels ? 0 : pixels[to - channels];
      const up = y === 0 ? 0 : pixels[to - stride];
      const corner = x < channels || y === 0 ? 0 : pixels[to - stride - channels];
      pixels[to] = raw[y * (stride + 1) + 1 + x] + predictByte(filter, left, up, corner);
    }
  }
  return pixels;
}

function predictByte(filter, left, up, corner) {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

function readColor(pixels, at) {
  return (pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2];
}

function buildPalette(pixels, channels) {
  const counts = new Map();
  for (let at = 0; at < pixels.length; at += channels) {
    const color = readColor(pixels, at);
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const byCount = [...counts].sort(([, a], [, b]) => b - a).map(([color]) => color);
  const palette = byCount.slice(0, FREQUENT);
  for (const color of byCount.slice(FREQUENT)) {
    if (palette.length === COLORS) break;
    if (measureDistance(palette[findNearest(palette, color)], color) >= APART) palette.push(color);
  }
  const indexOf = new Map(byCount.map((color) => [color, findNearest(palette, color)]));
  return { palette, indexOf };
}

function findNearest(palette, color) {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (const [n, other] of palette.entries()) {
    const far = measureDistance(other, color);
    if (far < least) [best, least] = [n, far];
  }
  return best;
}

function measureDistance(one, other) {
  const part = (shift) => ((one >> shift) & 255) - ((other >> shift) & 255);
  return part(16) ** 2 + part(8) ** 2 + part(0) ** 2;
}

function createChunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** Node has its own crc32 from version 22.2. */
function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}
