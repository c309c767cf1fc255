import type { ImageType } from '../../../rules/assets/image.ts';

/** Total size of cached images, in each API process. */
const CACHE_MAX_BYTES = 48 * 1024 * 1024;
/** Time for which an image is cached. A deleted image may be served for this time. */
const CACHE_MS = 60_000;

/** The bytes and the type of an image, as the API serves them. */
export interface ServedAsset {
  contentType: ImageType;
  content: Buffer;
}

interface CachedImage {
  image: ServedAsset;
  untilMs: number;
}

export interface ServedCache {
  get(hash: string): Promise<ServedAsset | undefined>;
}

/**
 * Caches images, because all readers of a campaign request the same few images. If the cache is full, it drops the
 * images that it has cached for the longest time. Concurrent requests for an image share one read.
 */
export function createServedCache(read: (hash: string) => Promise<ServedAsset | undefined>): ServedCache {
  const cachedImages = new Map<string, CachedImage>();
  const pendingReads = new Map<string, Promise<ServedAsset | undefined>>();
  let bytes = 0;

  function drop(hash: string): void {
    const old = cachedImages.get(hash);
    if (!old) return;
    cachedImages.delete(hash);
    bytes -= old.image.content.length;
  }

  function keep(hash: string, image: ServedAsset): void {
    drop(hash);
    cachedImages.set(hash, { image, untilMs: Date.now() + CACHE_MS });
    bytes += image.content.length;
    // A Map iterates in the order of insertion, so the first image has been in the cache for the longest time.
    for (const oldest of cachedImages.keys()) {
      if (bytes <= CACHE_MAX_BYTES) return;
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
      const cached = cachedImages.get(hash);
      if (cached && cached.untilMs > Date.now()) return cached.image;
      drop(hash);
      const loading = pendingReads.get(hash) ?? load(hash).finally(() => pendingReads.delete(hash));
      pendingReads.set(hash, loading);
      return loading;
    },
  };
}
