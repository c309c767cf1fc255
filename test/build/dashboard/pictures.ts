import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import type { World } from './world.ts';

type Color = readonly [red: number, green: number, blue: number];

const CREAM: Color = [236, 227, 209];
const SUN: Color = [222, 158, 86];
const LEAF: Color = [139, 163, 144];
const PINE: Color = [64, 92, 79];
const PAPER: Color = [250, 247, 240];

/** Sample images. `paint` returns the color at a point: `x` from 0 to 1, `y` in the same unit from the top. */
const PICTURES: readonly { name: string; width: number; height: number; paint: (x: number, y: number) => Color }[] = [
  {
    name: 'autumn-header.png',
    width: 1200,
    height: 400,
    paint: (x, y) => {
      if (y > 0.25 - 0.035 * Math.sin(5 * x + 1)) return PINE;
      if (y > 0.2 - 0.045 * Math.sin(4 * x - 1)) return LEAF;
      return isInCircle(x - 0.72, y - 0.13, 0.07) ? SUN : CREAM;
    },
  },
  {
    name: 'logo.png',
    width: 160,
    height: 160,
    paint: (x, y) => {
      if (isInCircle(x - 0.38, y - 0.62, 0.3) && isInCircle(x - 0.62, y - 0.38, 0.3)) return PAPER;
      return isInCircle(x - 0.5, y - 0.5, 0.46) ? PINE : PAPER;
    },
  },
  {
    name: 'first-flush.png',
    width: 600,
    height: 900,
    paint: (x, y) => {
      const isTin = x > 0.22 && x < 0.78 && y > 0.42 && y < 1.3;
      if (isTin && isInCircle(x - 0.5, y - 0.86, 0.16)) return CREAM;
      if (isTin) return y < 0.56 ? PINE : SUN;
      return y > 1.24 ? LEAF : CREAM;
    },
  },
];

function isInCircle(x: number, y: number, radius: number): boolean {
  return Math.hypot(x, y) < radius;
}

/** Builds images that no record uses: a landscape, a leaf and a tin of tea. */
export async function buildImages({ db, projectId, voice }: World): Promise<void> {
  for (const [n, { name, width, height, paint }] of PICTURES.entries()) {
    const content = createPng(width, height, (x, y) => paint(x / width, y / width));
    const hash = createHash('sha256').update(`${projectId}\n`).update(content).digest('hex');
    const picture = { content_type: 'image/png' as const, bytes: content.length, width, height, content };
    await db
      .insertInto('assets')
      .values({ project_id: projectId, hash, filename: voice.say(name, n, 200), ...picture })
      .execute();
  }
}

/** Builds a PNG from its signature and the chunks IHDR, IDAT and IEND (PNG specification §5). */
function createPng(width: number, height: number, getColor: (x: number, y: number) => Color): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits for each channel, RGB.
  header.set([8, 2], 8);
  // Each row starts with its filter, which is 0.
  const rows = Buffer.alloc((1 + 3 * width) * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) rows.set(getColor(x, y), (1 + 3 * width) * y + 1 + 3 * x);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    createChunk('IHDR', header),
    createChunk('IDAT', deflateSync(rows)),
    createChunk('IEND', Buffer.alloc(0)),
  ]);
}

function createChunk(type: string, data: Buffer): Buffer {
  const typeAndData = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(typeAndData));
  return Buffer.concat([length, typeAndData, check]);
}
