import { findStoredAsset } from '../../../db/assets/served-assets.ts';
import { AppError } from '../../../rules/errors.ts';
import { TRACKED_HITS, type UnauthenticatedLimit } from '../../http/caller-limits.ts';
import type { Deps } from '../../http/deps.ts';
import type { UnauthenticatedRoutes } from '../../http/registrar.ts';
import { createServedCache, type ServedAsset } from './served-cache.ts';
import { chooseStoreOfImage } from './store.ts';

const HASH = /^[0-9a-f]{64}$/;
/**
 * The same limit as for opens, because mailbox providers fetch the images of millions of people from a few addresses.
 */
const FETCHES: UnauthenticatedLimit = { ...TRACKED_HITS, name: 'images' };

/**
 * Content-Security-Policy of images. If a user opens an image in a tab, the browser treats it as a document of this
 * origin. The policy gives the document an opaque origin, and forbids scripts and loading of resources.
 */
const POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** Serves images at `PUBLIC_URL/assets/<hash>` to anyone who has the URL. A URL always returns the same bytes. */
export function registerAssetServingRoutes(unauthenticated: UnauthenticatedRoutes, deps: Deps): void {
  const images = createServedCache((hash) => readServedAsset(deps, hash));
  unauthenticated.get(
    '/assets/{hash}',
    async (c) => {
      const hash = c.req.param('hash') ?? '';
      const image = HASH.test(hash) ? await images.get(hash) : undefined;
      if (!image) throw new AppError('NOT_FOUND', { message: 'This image does not exist.' });
      const etag = `"${hash}"`;
      const headers = createHeaders(image, etag);
      if (c.req.header('if-none-match') === etag) return c.body(null, 304, headers);
      return c.body(new Uint8Array(image.content), 200, headers);
    },
    { limit: FETCHES },
  );
}

/** Reads an image. Undefined if the image does not exist, or was deleted while it was read. */
async function readServedAsset(deps: Deps, hash: string): Promise<ServedAsset | undefined> {
  const stored = await findStoredAsset(deps.reads, hash);
  if (!stored) return undefined;
  const content = Buffer.alloc(stored.bytes);
  let at = 0;
  for await (const piece of chooseStoreOfImage(deps, stored).read(stored)) {
    if (at + piece.length > stored.bytes) return undefined;
    content.set(piece, at);
    at += piece.length;
  }
  return at === stored.bytes ? { contentType: stored.contentType, content } : undefined;
}

function createHeaders({ contentType, content }: ServedAsset, etag: string): Record<string, string> {
  return {
    'content-type': contentType,
    'content-length': String(content.length),
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': POLICY,
    // Lets pages of mailbox providers show the image, even if the page is isolated (COEP).
    'cross-origin-resource-policy': 'cross-origin',
    etag,
  };
}
