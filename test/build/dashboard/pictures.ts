import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import type { World } from './world.ts';

const PICTURES = [
  { name: 'autumn-header.png', width: 1200, height: 400, rgb: [43, 76, 63] },
  { name: 'logo.png', width: 160, height: 160, rgb: [200, 118, 44] },
  { name: 'first-flush.png', width: 600, height: 900, rgb: [244, 241, 234] },
] as const;

/** Builds images that no record uses, each of one color. */
export async function buildImages({ db, projectId, voice }: World): Promise<void> {
  for (const [n, { name, width, height, rgb }] of PICTURES.entries()) {
    const content = createPlainPng(width, height, rgb);
    const hash = createHash('sha256').update(`${projectId}\n`).update(content).digest('hex');
    const picture = { content_type: 'image/png' as const, bytes: content.length, width, height, content };
    await db
      .insertInto('assets')
      .values({ project_id: projectId, hash, filename: voice.say(name, n, 200), ...picture })
      .execute();
  }
}

/** Builds a PNG from its signature and the chunks IHDR, IDAT and IEND (PNG specification §5). */
function createPlainPng(width: number, height: number, rgb: readonly number[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits for each channel, RGB.
  header.set([8, 2], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(3 * width, Buffer.from(rgb))]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    createChunk('IHDR', header),
    createChunk('IDAT', pixels),
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
