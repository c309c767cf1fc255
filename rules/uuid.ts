import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/** Random bytes for many ids. Generating 16 bytes takes 2 µs, and generating 4,096 bytes takes only 5 µs. */
const pool = new Uint8Array(4096);
const BYTES_PER_ID = 16;
let used = pool.length;

let lastMs = 0;
let sequence = 0;

/**
 * Creates a UUIDv7. The ids of one process are sorted by their creation, also within a millisecond. Source: RFC 9562
 * §6.2, method 1.
 */
export function uuidv7(): string {
  const random = takeRandom();
  const nowMs = Date.now();
  if (nowMs > lastMs) {
    lastMs = nowMs;
    // The sequence starts in the lower half of its range, so it cannot overflow within a millisecond.
    sequence = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1;
  } else {
    sequence += 1;
  }
  return v7({ random, msecs: lastMs, seq: sequence });
}

/** Returns the time at which the creator of a UUIDv7 created it. Undefined for any other UUID. */
export function readUuidTime(id: string): Date | undefined {
  const hex = id.replaceAll('-', '');
  return hex[12] === '7' ? new Date(Number.parseInt(hex.slice(0, 12), 16)) : undefined;
}

function takeRandom(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += BYTES_PER_ID;
  return pool.subarray(used - BYTES_PER_ID, used);
}
