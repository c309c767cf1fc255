import type { ImageType } from '../../../rules/assets/image.ts';

/** Total size of cached images, in each API process. */
const KEPT_MAX_BYTES = 48 * 1024 * 1024;
/** How long another process may still serve a deleted image. */
const KEPT_MS = 60_000;

/** An image as it is served. */
export interface ServedAsset {
  contentType: ImageType;
  content: Buffer;
}

interface Kept {
  image: ServedAsset;
  untilMs: number;
}

export interface ServedCache {
  get(hash: string): Promise<ServedAsset | undefined>;
}

/**
 * Caches the most recently requested images, since all readers of a campaign request the same few images. Concurrent
 * requests share one read.
 */
export function createServedCache(read: (hash: string) => Promise<ServedAsset | undefined>): ServedCache {
  const kept = new Map<string, Kept>();
  const underWay = new Map<string, Promise<ServedAsset | undefined>>();
  let bytes = 0;

  function drop(hash: string): void {
    const old = kept.get(hash);
    if (!old) return;
    kept.delete(hash);
    bytes -= old.image.content.length;
  }

  function keep(hash: string, image: ServedAsset): void {
    drop(hash);
    kept.set(hash, { image, untilMs: Date.now() + KEPT_MS });
    bytes += image.content.length;
    // A Map iterates in the order of insertion: the first image is the oldest.
    for (const oldest of kept.keys()) {
      if (bytes <= KEPT_MAX_BYTES) return;
      drop(oldest);
    }
  }

  async function load(hash: string): Promise<ServedAsset | undefined> {
    const image = await read(hash);
    if (image) keep(hash, image);
    return image;
  }

  return {
    async get(hash) {
      const known = kept.get(hash);
      if (known && known.untilMs > Date.now()) return known.image;
      drop(hash);
      const loading = underWay.get(hash) ?? load(hash).finally(() => underWay.delete(hash));
      underWay.set(hash, loading);
      return loading;
    },
  };
}
